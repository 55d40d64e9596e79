import { DeliveryState } from "@activity/proto";
import type { TestDatabase } from "../harness/database.ts";

/** Deliveries written straight into the database, which no client could make so many of in a test. */
export type Backlog = {
  readonly accountId: string;
  /** They are shared out evenly. */
  readonly endpointIds: readonly string[];
  /** At most 100,000. */
  readonly count: number;
  /** Begins their ids; 10 characters. */
  readonly prefix: string;
};

const DIGITS = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(" UNION ALL ");
const NUMBERS = `SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
  FROM (${DIGITS}) a, (${DIGITS}) b, (${DIGITS}) c, (${DIGITS}) e, (${DIGITS}) f`;

/** What the database holds of each of them. */
type Stored = {
  readonly state: DeliveryState;
  readonly attempts: number;
  /** From now; absent for one that waits. */
  readonly nextAttemptSeconds?: number;
};

/** Writes deliveries that wait in the outbox. */
export async function writeWaiting(database: TestDatabase, backlog: Backlog): Promise<void> {
  await writeDeliveries(database, backlog, { state: DeliveryState.WAITING, attempts: 0 });
  await database.query(
    `INSERT INTO outbox_entry (delivery_no, account_no, endpoint_id, delivery_id, sequence, claimable_at)
     SELECT delivery_no, account_no, endpoint_id, id, 1, 0 FROM delivery WHERE id LIKE ?`,
    [`${backlog.prefix}%`],
  );
}

/** Writes deliveries as they are at some moment, none of them in the outbox, and returns their ids. */
export async function writeDeliveries(
  database: TestDatabase,
  { accountId, endpointIds, count, prefix }: Backlog,
  { state, attempts, nextAttemptSeconds }: Stored,
): Promise<string[]> {
  // All of them are of one event.
  const eventId = `evt_${prefix}`.padEnd(19, "0");
  await database.query(
    `INSERT INTO webhook_event (account_no, id, kind, created_at, payload)
     SELECT account_no, ?, 1, 1600000000000000, '{}' FROM account WHERE id = ?`,
    [eventId, accountId],
  );
  await database.query(
    `INSERT INTO delivery (id, account_no, endpoint_id, event_no, kind, test, state, sequence, attempts,
       next_attempt_at, created_at)
     SELECT CONCAT(?, LPAD(n, 5, '0')), w.account_no, ELT(n % ? + 1, ?), w.event_no, 1, FALSE, ?, 1, ?,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + ?, w.created_at
     FROM (${NUMBERS}) numbers JOIN webhook_event w ON w.id = ? WHERE n < ?`,
    [
      prefix,
      endpointIds.length,
      endpointIds,
      state,
      attempts,
      nextAttemptSeconds === undefined ? null : nextAttemptSeconds * 1e6,
      eventId,
      count,
    ],
  );
  const rows = await database.query<{ id: string }>("SELECT id FROM delivery WHERE id LIKE ?", [
    `${prefix}%`,
  ]);
  return rows.map(({ id }) => id);
}
