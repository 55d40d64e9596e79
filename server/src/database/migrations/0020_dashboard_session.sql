-- A session that has not ended: who signs out, or is blocked, has none any more.
CREATE TABLE IF NOT EXISTS dashboard_session (
  session_hash BINARY(32) NOT NULL,
  account_no BIGINT UNSIGNED NOT NULL,
  scopes INT UNSIGNED NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (session_hash),
  KEY dashboard_session_account (account_no),
  KEY dashboard_session_expiry (expires_at)
) ENGINE = InnoDB;
