-- The deliveries whose sequence the workflow engine has not acknowledged yet, each until it has: a relay
-- claims an entry by moving claimable_at to the end of its lease.
CREATE TABLE IF NOT EXISTS outbox_entry (
  delivery_no BIGINT UNSIGNED NOT NULL,
  account_no BIGINT UNSIGNED NOT NULL,
  delivery_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sequence INT UNSIGNED NOT NULL,
  claimable_at BIGINT NOT NULL,
  PRIMARY KEY (delivery_no),
  KEY outbox_entry_account (account_no, delivery_no)
) ENGINE = InnoDB;
