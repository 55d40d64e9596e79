-- An account and, in feed_changed_at, its feed's clock: what is recorded is recorded at its next time, and
-- each change of what a page may show moves it on, so that it is the feed's version too. Every time in this
-- schema is a count of microseconds since 1970-01-01T00:00:00Z. A deleted account keeps its row, so that its API keys are
-- answered with account_unavailable, but nothing of its profile. account_no is the time with which the id
-- begins (server/src/ids.ts), so that an id alone tells which rows are its account's.
CREATE TABLE IF NOT EXISTS account (
  account_no BIGINT UNSIGNED NOT NULL,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  external_id VARBINARY(512) NULL,
  username VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NULL,
  display_name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  verified_at BIGINT NULL,
  blocked_at BIGINT NULL,
  deleted_at BIGINT NULL,
  purged_at BIGINT NULL,
  api_key_created_at BIGINT NULL,
  feed_changed_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_no),
  UNIQUE KEY account_id (id),
  UNIQUE KEY account_external_id (external_id),
  UNIQUE KEY account_username (username)
) ENGINE = InnoDB;
