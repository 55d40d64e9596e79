-- Secrets that sign soon are looked for all the time.
ALTER TABLE endpoint ADD KEY endpoint_next_secret (next_secret_from);
