-- The last admissions of one client address or account, for the request limits (8): ring holds their
-- times, 8 bytes big-endian each, and wraps around once it holds as many as the limit allows. ok, batch
-- and batch_admitted say what became of the statement that came last.
CREATE TABLE IF NOT EXISTS rate_window (
  bucket VARBINARY(24) NOT NULL,
  admitted BIGINT UNSIGNED NOT NULL,
  last_at BIGINT NOT NULL,
  ok BOOLEAN NOT NULL,
  ring VARBINARY(2400) NOT NULL,
  batch BINARY(8) NOT NULL,
  batch_admitted SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (bucket),
  KEY rate_window_last (last_at)
) ENGINE = InnoDB;
