-- Keys that end soon are looked for all the time.
ALTER TABLE api_key ADD KEY api_key_expiry (expires_at);
