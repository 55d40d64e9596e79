-- Which shard has the API key with a hash.
CREATE TABLE IF NOT EXISTS api_key_hash (
  key_hash BINARY(32) NOT NULL,
  keyspace_id VARBINARY(8) NOT NULL,
  PRIMARY KEY (key_hash)
) ENGINE = InnoDB;
