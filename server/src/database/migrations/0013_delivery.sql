-- One webhook event to one endpoint. kind, state and last_outcome are the numbers of
-- proto/activity/dashboard/v1; attempts and last_outcome are those of the sequence named by sequence.
CREATE TABLE IF NOT EXISTS delivery (
  delivery_no BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  account_no BIGINT UNSIGNED NOT NULL,
  endpoint_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_no BIGINT UNSIGNED NOT NULL,
  kind TINYINT UNSIGNED NOT NULL,
  test BOOLEAN NOT NULL,
  state TINYINT UNSIGNED NOT NULL,
  sequence INT UNSIGNED NOT NULL,
  attempts TINYINT UNSIGNED NOT NULL DEFAULT 0,
  last_outcome TINYINT UNSIGNED NULL,
  next_attempt_at BIGINT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (delivery_no),
  UNIQUE KEY delivery_id (id),
  KEY delivery_account (account_no, created_at, delivery_no),
  KEY delivery_endpoint (account_no, endpoint_id, created_at, delivery_no),
  KEY delivery_state (account_no, state, created_at, delivery_no)
) ENGINE = InnoDB;
