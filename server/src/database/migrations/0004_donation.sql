-- Every donation, in the feed or not: made through the service (platform 1) or imported. The writer's
-- external id is bytes, because every text collation takes some different ids for the same.
CREATE TABLE IF NOT EXISTS donation (
  account_no BIGINT UNSIGNED NOT NULL,
  platform TINYINT UNSIGNED NOT NULL,
  external_id VARBINARY(512) NOT NULL,
  record_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status TINYINT UNSIGNED NOT NULL,
  amount_cents BIGINT NOT NULL,
  currency CHAR(3) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  refunded_amount_cents BIGINT NOT NULL DEFAULT 0,
  donor_name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  message VARCHAR(4000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  donated_at BIGINT NOT NULL,
  recorded_at BIGINT NULL,
  test BOOLEAN NOT NULL,
  subscription_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (account_no, platform, external_id),
  UNIQUE KEY donation_record (account_no, record_id)
) ENGINE = InnoDB;
