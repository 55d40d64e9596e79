CREATE TABLE IF NOT EXISTS service_credential (
  credential_hash BINARY(32) NOT NULL,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  permissions VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT NULL,
  PRIMARY KEY (credential_hash),
  UNIQUE KEY service_credential_id (id)
) ENGINE = InnoDB;
