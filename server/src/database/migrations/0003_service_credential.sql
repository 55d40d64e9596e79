CREATE TABLE IF NOT EXISTS service_credential (
  credential_hash BINARY(32) NOT NULL,
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  permissions VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  account_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT NULL,
  PRIMARY KEY (credential_hash),
  UNIQUE KEY service_credential_name (name)
) ENGINE = InnoDB;
