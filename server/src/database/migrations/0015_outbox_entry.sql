-- The runs that a dispatcher has work with (task: 1 the first attempt, 2 beginning the workflow of the
-- retries); ended runs, and those that Temporal has, have no entry. available_at is when an entry can be
-- claimed: for one that is leased, the end of its lease. lease_id names the claim that leased it last.
CREATE TABLE IF NOT EXISTS outbox_entry (
  account_no BIGINT UNSIGNED NOT NULL,
  delivery_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  endpoint_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run INT UNSIGNED NOT NULL,
  task TINYINT UNSIGNED NOT NULL,
  available_at BIGINT NOT NULL,
  lease_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (account_no, delivery_id),
  KEY outbox_entry_queue (task, account_no, endpoint_id, available_at)
) ENGINE = InnoDB;
