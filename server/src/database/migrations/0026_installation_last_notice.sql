-- The sequence of the last notice. Whoever writes notices locks this row first, so they commit in their order.
ALTER TABLE installation ADD COLUMN last_notice BIGINT NOT NULL DEFAULT 0;
