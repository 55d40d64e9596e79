-- Run once on a database that was restored from a backup, before the product starts on it; a second time does no
-- harm. docs/operating.md, "Backup and restore", says when, and ADR 0045 why. For MySQL and MariaDB.

-- The numbers are those of server/src/dispatch: states 1 pending and 2 retrying, task 2 to begin a workflow.
SET @now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));

-- What was written at a later time than this is not in the backup.
SELECT DATE_ADD('1970-01-01 00:00:00.000000', INTERVAL GREATEST(
  (SELECT COALESCE(MAX(feed_changed_at), 0) FROM account),
  (SELECT COALESCE(MAX(created_at), 0) FROM delivery),
  (SELECT COALESCE(MAX(started_at + duration), 0) FROM delivery_attempt)
) MICROSECOND) AS newest_in_backup_utc;

-- Sessions that were ended since the backup would be open again. Owners come in by another link.
DELETE FROM dashboard_session;
DELETE FROM session_link;

-- No feed has the version that it had before: no kept page is taken for one of the restored feed.
UPDATE account SET feed_changed_at = GREATEST(feed_changed_at + 1, @now);

-- Of each run that goes on, Temporal may know more than the backup does, so it is asked before anything is sent: it
-- keeps its workflow where it has one, and says how the run ended where it has.
UPDATE delivery SET state = 2, next_attempt_at = @now WHERE state = 1;
INSERT INTO outbox_entry (account_no, delivery_id, endpoint_id, run, task, leased_until, lease_id)
  SELECT account_no, id, endpoint_id, run, 2, NULL, NULL FROM delivery WHERE state = 2
  ON DUPLICATE KEY UPDATE run = VALUES(run), task = 2, leased_until = NULL, lease_id = NULL;
