-- Run this once on a restored database before the product starts on it. If it is interrupted, it changes nothing. If it
-- has already completed, a second run is harmless, but prints the time of the first run. See docs/operating.md, "Backup
-- and restore", and ADR 0045. For MySQL and MariaDB.

START TRANSACTION;

-- Numbers of server/src/dispatch: state 1 is pending, state 2 is retrying, task 2 begins a workflow.
SET @now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));

-- Prints the time since which writers repeat their calls. It may be too early, because a repeated call changes nothing,
-- but must not be too late. So the query ignores the times of attempts, which the clocks of deliveries processes set.
-- The time is still too late if the database's clock stepped back (ADR 0008).
SELECT DATE_ADD('1970-01-01 00:00:00.000000', INTERVAL GREATEST(
  (SELECT COALESCE(MAX(feed_changed_at), 0) FROM account),
  (SELECT COALESCE(MAX(created_at), 0) FROM delivery)
) MICROSECOND) AS newest_in_backup_utc;

-- Sessions that ended since the backup would be open again. So all are deleted, and owners need new links.
DELETE FROM dashboard_session;
DELETE FROM session_link;

-- Every feed gets a new version, so that gateways do not answer with pages of the lost feed. A feed or notice that is
-- ahead of the clock advances by one microsecond a change. One second is more than all lost changes together.
UPDATE account SET feed_changed_at = GREATEST(feed_changed_at + 1000000, @now);
UPDATE installation SET last_notice = GREATEST(last_notice + 1000000, @now);

-- Temporal may know more attempts of a running run than the backup, so the product asks Temporal before it sends
-- anything. A running workflow continues. For an ended one Temporal returns how the run ended.
UPDATE delivery SET state = 2, next_attempt_at = @now WHERE state = 1;
INSERT INTO outbox_entry (account_no, delivery_id, endpoint_id, run, task, leased_until, lease_id)
  SELECT account_no, id, endpoint_id, run, 2, NULL, NULL FROM delivery WHERE state = 2
  ON DUPLICATE KEY UPDATE run = VALUES(run), task = 2, leased_until = NULL, lease_id = NULL;

COMMIT;
