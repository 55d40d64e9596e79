-- What limits an owner's sending: when the last tests were sent, each time in 8 bytes, oldest first, and when failed
-- deliveries were last retried together.
ALTER TABLE account ADD COLUMN test_times VARBINARY(80) NULL, ADD COLUMN bulk_retried_at BIGINT NULL;
