-- The runs that a dispatcher has work with (task: 1 the first attempt, 2 beginning the workflow of the
-- retries); ended runs, and those that Temporal has, have no entry. leased_until is the end of an
-- entry's lease, in microseconds since 1970, or NULL; lease_id names the claim that leased it last. What a lost
-- lease gives back comes before what was never leased, and that by its id, which begins with its time.
CREATE TABLE IF NOT EXISTS outbox_entry (
  account_no BIGINT UNSIGNED NOT NULL,
  delivery_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  endpoint_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run INT UNSIGNED NOT NULL,
  task TINYINT UNSIGNED NOT NULL,
  leased_until BIGINT NULL,
  lease_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (account_no, delivery_id),
  KEY outbox_entry_queue (task, account_no, endpoint_id, leased_until DESC, delivery_id)
) ENGINE = InnoDB;
