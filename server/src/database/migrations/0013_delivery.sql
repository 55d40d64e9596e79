-- One webhook event to one endpoint. kind, state and last_outcome are the numbers of
-- proto/activity/dashboard/v1; attempts, last_outcome and next_attempt_at are those of the run. Ids begin
-- with the time of the event, so that their order is the order of events. A state has
-- the last outcomes of server/src/dispatch/delivery-state.ts and no others: deliveries are listed by both (ADR 0026).
CREATE TABLE IF NOT EXISTS delivery (
  account_no BIGINT UNSIGNED NOT NULL,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  endpoint_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_id CHAR(19) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind TINYINT UNSIGNED NOT NULL,
  test BOOLEAN NOT NULL,
  state TINYINT UNSIGNED NOT NULL,
  run INT UNSIGNED NOT NULL,
  attempts TINYINT UNSIGNED NOT NULL DEFAULT 0,
  last_outcome TINYINT UNSIGNED NULL,
  next_attempt_at BIGINT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (account_no, id),
  KEY delivery_event (account_no, event_id),
  KEY delivery_endpoint_state_kind (account_no, endpoint_id, state, kind, last_outcome, id),
  KEY delivery_state_kind (account_no, state, kind, last_outcome, id),
  KEY delivery_due (state, next_attempt_at),
  KEY delivery_created (created_at)
) ENGINE = InnoDB;
