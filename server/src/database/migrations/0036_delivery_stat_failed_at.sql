-- The hour again if an attempt of it failed. Its index comes next, because together they would copy the table.
ALTER TABLE delivery_stat ADD COLUMN failed_at BIGINT AS (IF(failed > 0, began_at, NULL)) VIRTUAL;
