-- Events of smaller donations are not for this endpoint, in the currency's smallest unit.
ALTER TABLE endpoint ADD COLUMN min_amount_cents BIGINT NOT NULL DEFAULT 0;
