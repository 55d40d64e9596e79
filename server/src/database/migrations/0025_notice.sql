-- What an owner is told (docs/adr/0054). sequence is the time in microseconds at which it was written, and greater than
-- those of all notices before. ends_at tells episodes of a key or secret apart. A notice is open while closed_at is
-- NULL; of one kind and subject at most one is. On Vitess all are on one shard, because all follow one sequence.
CREATE TABLE IF NOT EXISTS notice (
  sequence BIGINT NOT NULL,
  account_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind TINYINT UNSIGNED NOT NULL,
  subject_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  level TINYINT UNSIGNED NOT NULL,
  since BIGINT NOT NULL,
  ends_at BIGINT NULL,
  closed_at BIGINT NULL,
  PRIMARY KEY (sequence),
  KEY notice_account (account_id, sequence),
  KEY notice_subject (subject_id, kind),
  KEY notice_closed (closed_at, sequence)
) ENGINE = InnoDB;
