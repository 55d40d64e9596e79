-- The runs, but for tests, that ended without success with an attempt that began within the hour.
ALTER TABLE delivery_stat ADD COLUMN failed_runs BIGINT NOT NULL DEFAULT 0;
