-- Which shard has the session with a hash.
CREATE TABLE IF NOT EXISTS dashboard_session_hash (
  session_hash BINARY(32) NOT NULL,
  keyspace_id VARBINARY(8) NOT NULL,
  PRIMARY KEY (session_hash)
) ENGINE = InnoDB;
