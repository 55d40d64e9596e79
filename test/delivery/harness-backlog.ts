import { DeliveryState } from "@activity/proto";
import type { Run } from "../../workflows/src/run.ts";
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
  /** From now; absent for one that is pending. */
  readonly nextAttemptSeconds?: number;
};

/** Writes deliveries whose first attempts wait in the outbox. */
export async function writePending(database: TestDatabase, backlog: Backlog): Promise<void> {
  await writeDeliveries(database, backlog, { state: DeliveryState.PENDING, attempts: 0 });
  await database.query(
    `INSERT INTO outbox_entry (account_no, delivery_id, endpoint_id, run, task, available_at)
     SELECT account_no, id, endpoint_id, 1, 1, 0 FROM delivery WHERE id LIKE ?`,
    [`${backlog.prefix}%`],
  );
}

/** Writes deliveries as they are at some moment, none of them in the outbox, and returns their runs. */
export async function writeDeliveries(
  database: TestDatabase,
  { accountId, endpointIds, count, prefix }: Backlog,
  { state, attempts, nextAttemptSeconds }: Stored,
): Promise<Run[]> {
  // All of them are of one event.
  const eventId = `wev_${prefix}`.padEnd(19, "0");
  await database.query(
    `INSERT INTO webhook_event (account_no, id, kind, created_at, payload)
     SELECT account_no, ?, 1, 1600000000000000, '{}' FROM account WHERE id = ?`,
    [eventId, accountId],
  );
  await database.query(
    `INSERT INTO delivery (id, account_no, endpoint_id, event_id, kind, test, state, run, attempts,
       next_attempt_at, created_at)
     SELECT CONCAT(?, LPAD(n, 5, '0')), w.account_no, ELT(n % ? + 1, ?), w.id, 1, FALSE, ?, 1, ?,
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
  const rows = await database.query<{ account_no: number; id: string }>(
    "SELECT account_no, id FROM delivery WHERE id LIKE ?",
    [`${prefix}%`],
  );
  return rows.map((row) => ({ accountNo: row.account_no, deliveryId: row.id, run: 1 }));
}
