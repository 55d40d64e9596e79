-- What an account's endpoints are told, committed with the change that caused it. Ids begin with their
-- time, so that rows that are written together lie together (server/src/ids.ts). record_id is the donation
-- that it tells of, NULL for a test. payload holds the exact bytes that every attempt sends, NULL once that
-- donation was deleted. traceparent is W3C's of the sampled span that wrote it, NULL for all others.
CREATE TABLE IF NOT EXISTS webhook_event (
  account_no BIGINT UNSIGNED NOT NULL,
  id CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  record_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NULL,
  payload BLOB NULL,
  traceparent CHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (account_no, id),
  KEY webhook_event_record (account_no, record_id)
) ENGINE = InnoDB;
