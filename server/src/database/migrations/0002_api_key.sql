-- last_used_at is noted once an hour at most (server/src/admission/key-uses.ts).
CREATE TABLE IF NOT EXISTS api_key (
  key_hash BINARY(32) NOT NULL,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  account_no BIGINT UNSIGNED NOT NULL,
  name VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  prefix VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT NULL,
  last_used_at BIGINT NULL,
  PRIMARY KEY (account_no, id),
  UNIQUE KEY api_key_hash (key_hash),
  KEY api_key_account (account_no, created_at)
) ENGINE = InnoDB;
