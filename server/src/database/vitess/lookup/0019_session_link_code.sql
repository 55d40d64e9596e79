-- Which shard has the link with the hash of a code.
CREATE TABLE IF NOT EXISTS session_link_code (
  code_hash BINARY(32) NOT NULL,
  keyspace_id VARBINARY(8) NOT NULL,
  PRIMARY KEY (code_hash)
) ENGINE = InnoDB;
