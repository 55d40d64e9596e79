-- A receiver of webhook events. kinds has a bit for each kind that it chose: 1 << number of the proto's
-- WebhookEventKind. Secrets are encrypted (server/src/signing-secret/secret-cipher.ts); next_secret signs in place
-- of secret once next_secret_from is past. A deleted endpoint keeps its row, so that its deliveries can say so,
-- but neither URL nor secret.
CREATE TABLE IF NOT EXISTS endpoint (
  account_no BIGINT UNSIGNED NOT NULL,
  id CHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  url VARCHAR(2048) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kinds INT UNSIGNED NOT NULL,
  standard_webhooks BOOLEAN NOT NULL,
  switched_on BOOLEAN NOT NULL,
  secret VARBINARY(200) NOT NULL,
  next_secret VARBINARY(200) NULL,
  next_secret_from BIGINT NULL,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT NULL,
  PRIMARY KEY (account_no, id)
) ENGINE = InnoDB;
