-- The accounts whose deletion is not finished, which are looked for all the time.
ALTER TABLE account
  ADD KEY account_unpurged (purged_at, deleted_at);
