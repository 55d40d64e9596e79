-- Hours in which an attempt failed are looked for all the time. Most hours have none.
ALTER TABLE delivery_stat ADD KEY delivery_stat_failed (failed_at, account_no, endpoint_id);
