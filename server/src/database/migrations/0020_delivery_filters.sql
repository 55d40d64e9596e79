-- Every filter of the list of deliveries names ranges of one index, each in the list's order; two indexes
-- are replaced, so that a delivery is written into no more of them.
ALTER TABLE delivery
  ADD KEY delivery_endpoint_state_kind (account_no, endpoint_id, state, kind, created_at, delivery_no),
  ADD KEY delivery_state_kind (account_no, state, kind, created_at, delivery_no),
  DROP KEY delivery_endpoint,
  DROP KEY delivery_state;
