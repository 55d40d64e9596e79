-- outcome: 0 open, 1 won, 2 lost.
CREATE TABLE IF NOT EXISTS donation_dispute (
  account_no BIGINT UNSIGNED NOT NULL,
  record_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  external_id VARBINARY(512) NOT NULL,
  outcome TINYINT UNSIGNED NOT NULL,
  PRIMARY KEY (account_no, record_id, external_id)
) ENGINE = InnoDB;
