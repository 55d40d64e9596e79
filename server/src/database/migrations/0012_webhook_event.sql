-- An outgoing fact, committed with the change that caused it. payload holds the exact bytes that every
-- attempt sends.
CREATE TABLE IF NOT EXISTS webhook_event (
  event_no BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  account_no BIGINT UNSIGNED NOT NULL,
  id CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind TINYINT UNSIGNED NOT NULL,
  created_at BIGINT NOT NULL,
  payload BLOB NOT NULL,
  PRIMARY KEY (event_no),
  KEY webhook_event_account (account_no)
) ENGINE = InnoDB;
