-- How the attempts of an endpoint ended that began within one hour, and how long they took in microseconds, all
-- together and the longest. Each is counted here once (server/src/delivery-stat), and stays when it is removed.
CREATE TABLE IF NOT EXISTS delivery_stat (
  account_no BIGINT UNSIGNED NOT NULL,
  endpoint_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  began_at BIGINT NOT NULL,
  delivered BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  total_duration BIGINT NOT NULL,
  longest_duration BIGINT NOT NULL,
  PRIMARY KEY (account_no, endpoint_id, began_at),
  KEY delivery_stat_began (began_at)
) ENGINE = InnoDB;
