-- Hours in which an attempt failed are looked for all the time. Most hours have none. Writers wait, because older
-- MariaDB can crash when one commits while such an index is built (MDEV-36281).
ALTER TABLE delivery_stat ADD KEY delivery_stat_failed (failed_at, account_no, endpoint_id), LOCK = SHARED;
