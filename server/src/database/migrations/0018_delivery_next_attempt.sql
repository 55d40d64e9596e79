-- What is under way at an endpoint, and what is long overdue, is found by the time of the next attempt.
ALTER TABLE delivery
  ADD KEY delivery_next_attempt (state, next_attempt_at, attempts, endpoint_id);
