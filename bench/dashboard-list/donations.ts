import type { Watch } from "../measure/watch.ts";

/** The length of a stored event's payload. No list reads payloads, but they make the rows as long as real ones. */
const PAYLOAD_BYTES = 300;
/** The stored platform and status of a paid donation. */
const [PLATFORM, PAID] = [1, 2];
const PAID_AT = 1_700_000_000_000_000;

/** Gives each event of the stored deliveries a row and a paid donation. A list reads both for its page. */
export async function fillDonations({ rows }: Pick<Watch, "rows">): Promise<void> {
  await rows(
    `INSERT INTO webhook_event (account_no, id, record_id, payload)
     SELECT DISTINCT account_no, event_id, SUBSTR(event_id, 5), REPEAT('x', ?) FROM delivery`,
    [PAYLOAD_BYTES],
  );
  await rows(
    `INSERT INTO donation (account_no, platform, external_id, record_id, status, amount_cents, currency,
       donor_name, donated_at, recorded_at, test)
     SELECT account_no, ?, record_id, record_id, ?, 500, 'eur', 'Ada Lovelace', ?, ?, FALSE
     FROM webhook_event`,
    [PLATFORM, PAID, PAID_AT, PAID_AT],
  );
  await rows("ANALYZE TABLE webhook_event, donation");
}
