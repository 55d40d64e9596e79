-- Which shard has the account with a username, in any case.
CREATE TABLE IF NOT EXISTS account_username (
  username VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  keyspace_id VARBINARY(8) NOT NULL,
  PRIMARY KEY (username)
) ENGINE = InnoDB;
