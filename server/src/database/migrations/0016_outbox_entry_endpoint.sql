-- An account's entries are claimed endpoint by endpoint, so that a busy one holds up no other. go_on_from
-- is the attempt that is due of a sequence that the workflow engine lost, NULL for one that has not begun.
-- The leases of the moment are counted through outbox_entry_lease.
ALTER TABLE outbox_entry
  ADD COLUMN endpoint_id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  ADD COLUMN go_on_from TINYINT UNSIGNED NULL,
  ADD KEY outbox_entry_endpoint (account_no, endpoint_id, delivery_no),
  ADD KEY outbox_entry_lease (claimable_at, endpoint_id),
  DROP KEY outbox_entry_account;
