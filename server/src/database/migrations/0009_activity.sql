-- The feed: exactly the rows a page may show, in the order it shows them. A record that is hidden has
-- no row here, so that a page reads nothing it does not return. record_key is the record id followed by
-- the source, d for don_ and e for evt_: comparing it compares both, as the contract's order wants (4.2).
-- type, platform and unit are the numbers of proto/activity/read/v1/activity.proto. occurred_at is NULL
-- where it equals recorded_at.
CREATE TABLE IF NOT EXISTS activity (
  account_no BIGINT UNSIGNED NOT NULL,
  recorded_at BIGINT NOT NULL,
  record_key CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  type TINYINT UNSIGNED NOT NULL,
  platform TINYINT UNSIGNED NOT NULL,
  unit TINYINT UNSIGNED NOT NULL,
  value BIGINT NOT NULL,
  occurred_at BIGINT NULL,
  currency CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NULL,
  refunded_amount_cents BIGINT NULL,
  actor_name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  message VARCHAR(4000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (account_no, recorded_at, record_key),
  KEY activity_type (account_no, type, recorded_at, record_key),
  KEY activity_platform (account_no, platform, recorded_at, record_key),
  KEY activity_type_platform (account_no, type, platform, recorded_at, record_key)
) ENGINE = InnoDB;
