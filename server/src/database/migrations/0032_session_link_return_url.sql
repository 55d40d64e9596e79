-- Where the session that the link opens leads back to; null for nowhere.
ALTER TABLE session_link ADD COLUMN return_url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NULL;
