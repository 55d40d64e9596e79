-- Copied from the link that opened the session.
ALTER TABLE dashboard_session ADD COLUMN return_url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NULL;
