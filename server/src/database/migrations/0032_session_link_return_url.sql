-- The address of the dashboard's link "Back to your site". Null: there is no link.
ALTER TABLE session_link ADD COLUMN return_url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NULL;
