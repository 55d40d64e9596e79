-- One signed request. started_at and duration are microseconds of the worker's clock.
CREATE TABLE IF NOT EXISTS delivery_attempt (
  delivery_no BIGINT UNSIGNED NOT NULL,
  sequence INT UNSIGNED NOT NULL,
  attempt TINYINT UNSIGNED NOT NULL,
  account_no BIGINT UNSIGNED NOT NULL,
  started_at BIGINT NOT NULL,
  duration BIGINT NOT NULL,
  outcome TINYINT UNSIGNED NOT NULL,
  status_code SMALLINT UNSIGNED NULL,
  detail VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  response_body VARBINARY(1024) NOT NULL,
  PRIMARY KEY (delivery_no, sequence, attempt),
  KEY delivery_attempt_account (account_no)
) ENGINE = InnoDB;
