-- The owner's name for the endpoint; empty when it has none.
ALTER TABLE endpoint ADD COLUMN name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '';
