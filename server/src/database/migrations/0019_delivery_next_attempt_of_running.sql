-- A delivery that was handed over has a next attempt until it ends: before, its first one had no time.
UPDATE delivery SET next_attempt_at = created_at WHERE state = 2 AND next_attempt_at IS NULL;
