-- One signed request. started_at and duration are microseconds of the clock of the process that made it;
-- counted tells whether delivery_stat holds it.
CREATE TABLE IF NOT EXISTS delivery_attempt (
  account_no BIGINT UNSIGNED NOT NULL,
  delivery_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run INT UNSIGNED NOT NULL,
  attempt TINYINT UNSIGNED NOT NULL,
  started_at BIGINT NOT NULL,
  duration BIGINT NOT NULL,
  outcome TINYINT UNSIGNED NOT NULL,
  status_code SMALLINT UNSIGNED NULL,
  detail VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  response_body VARBINARY(1024) NOT NULL,
  counted BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (account_no, delivery_id, run, attempt),
  KEY delivery_attempt_counted (counted)
) ENGINE = InnoDB;
