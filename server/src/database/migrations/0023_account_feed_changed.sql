ALTER TABLE account ADD KEY account_feed_changed (feed_changed_at);
