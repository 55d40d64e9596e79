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

/** Writes deliveries that wait in the outbox. */
export async function writeWaiting(database: TestDatabase, backlog: Backlog): Promise<void> {
  await writeDeliveries(database, backlog, { state: 1, attempts: 0 });
  await database.query(
    `INSERT INTO outbox_entry (delivery_no, account_no, endpoint_id, delivery_id, sequence, claimable_at)
     SELECT delivery_no, account_no, endpoint_id, id, 1, 0 FROM delivery WHERE id LIKE ?`,
    [`${backlog.prefix}%`],
  );
}

/** Writes deliveries whose first attempt has failed, and returns their ids. */
export async function writeFailedOnce(database: TestDatabase, backlog: Backlog): Promise<string[]> {
  await writeDeliveries(database, backlog, { state: 2, attempts: 1 });
  const rows = await database.query<{ id: string }>("SELECT id FROM delivery WHERE id LIKE ?", [
    `${backlog.prefix}%`,
  ]);
  return rows.map(({ id }) => id);
}

/** All of them are of one event. */
async function writeDeliveries(
  database: TestDatabase,
  { accountId, endpointIds, count, prefix }: Backlog,
  { state, attempts }: { readonly state: number; readonly attempts: number },
): Promise<void> {
  await database.query(
    `INSERT INTO webhook_event (account_no, id, kind, created_at, payload)
     SELECT account_no, ?, 1, 1600000000000000, '{}' FROM account WHERE id = ?`,
    [`evt_${prefix}`.padEnd(19, "0"), accountId],
  );
  await database.query(
    `INSERT INTO delivery (id, account_no, endpoint_id, event_no, kind, test, state, sequence, attempts,
       next_attempt_at, created_at)
     SELECT CONCAT(?, LPAD(n, 5, '0')), w.account_no, ELT(n % ? + 1, ?), w.event_no, 1, FALSE, ?, 1, ?,
       IF(?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 60000000, NULL), w.created_at
     FROM (${NUMBERS}) numbers JOIN webhook_event w ON w.id = ? WHERE n < ?`,
    [
      prefix,
      endpointIds.length,
      endpointIds,
      state,
      attempts,
      attempts > 0,
      `evt_${prefix}`.padEnd(19, "0"),
      count,
    ],
  );
}
