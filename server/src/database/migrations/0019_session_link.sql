-- A link into the dashboard: of its code only the hash is kept. session_hash is of the session that it was
-- exchanged for, once; null while it was not used.
CREATE TABLE IF NOT EXISTS session_link (
  code_hash BINARY(32) NOT NULL,
  account_no BIGINT UNSIGNED NOT NULL,
  scopes INT UNSIGNED NOT NULL,
  expires_at BIGINT NOT NULL,
  session_hash BINARY(32) NULL,
  PRIMARY KEY (code_hash),
  KEY session_link_account (account_no),
  KEY session_link_expiry (expires_at)
) ENGINE = InnoDB;
