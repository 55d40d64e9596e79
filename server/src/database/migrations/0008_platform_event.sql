-- What is known of a platform event beside its row in the feed: enough to recognize it when it is
-- written again, after it was deleted too.
CREATE TABLE IF NOT EXISTS platform_event (
  account_no BIGINT UNSIGNED NOT NULL,
  platform TINYINT UNSIGNED NOT NULL,
  external_id VARBINARY(512) NOT NULL,
  record_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  recorded_at BIGINT NOT NULL,
  test BOOLEAN NOT NULL,
  deleted BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (account_no, platform, external_id)
) ENGINE = InnoDB;
