-- The one row names this database: what it shares with others, such as a Temporal namespace, is named by it.
CREATE TABLE IF NOT EXISTS installation (
  only_one BOOLEAN NOT NULL,
  id CHAR(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (only_one)
) ENGINE = InnoDB;
