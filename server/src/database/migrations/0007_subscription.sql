-- A supporter's monthly subscription through the service, known from its first paid contribution on.
-- first_record_id is the record id of that contribution; it is NULL while only test contributions were
-- recorded.
CREATE TABLE IF NOT EXISTS subscription (
  account_no BIGINT UNSIGNED NOT NULL,
  external_id VARBINARY(512) NOT NULL,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  first_record_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (account_no, external_id),
  UNIQUE KEY subscription_id (account_no, id)
) ENGINE = InnoDB;
