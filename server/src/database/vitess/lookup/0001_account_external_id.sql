-- Which shard has the account with an external id.
CREATE TABLE IF NOT EXISTS account_external_id (
  external_id VARBINARY(512) NOT NULL,
  keyspace_id VARBINARY(8) NOT NULL,
  PRIMARY KEY (external_id)
) ENGINE = InnoDB;
