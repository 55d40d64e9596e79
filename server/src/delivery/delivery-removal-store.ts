import { anyOf } from "../database/any-of.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { Transaction } from "../database/transaction.ts";
import { RUNNING_STATES } from "../dispatch/delivery-state.ts";
import { anyDelivery, type DeliveryKey } from "../dispatch/run-key.ts";

/** A delivery whose event is old enough for its removal. */
export type OldDelivery = DeliveryKey & { readonly eventId: string; readonly createdAt: number };

type KeyRow = RowDataPacket & { account_no: number; delivery_id: string };
type Row = KeyRow & { event_id: string; created_at: number };

const DELIVERY = { account: "account_no", delivery: "id" };
const ATTEMPT = { account: "account_no", delivery: "delivery_id" };

/** The last delivery of a page. The next page begins after it. */
export type OldPosition = Omit<OldDelivery, "eventId">;

/** Lists ended deliveries of events that are older than `retentionMicros`, oldest first, after a position. */
export async function listOldDeliveries(
  pool: Pool,
  { createdAt, accountNo, deliveryId }: OldPosition,
  retentionMicros: number,
  limit: number,
): Promise<OldDelivery[]> {
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT account_no, id AS delivery_id, event_id, created_at FROM delivery FORCE INDEX (delivery_created)
     WHERE created_at >= ? AND created_at < ${NOW_MICROS} - ? AND state NOT IN (?)
       AND (created_at > ? OR account_no > ? OR account_no = ? AND id > ?)
     ORDER BY created_at, account_no, id LIMIT ${limit}`,
    [createdAt, retentionMicros, RUNNING_STATES, createdAt, accountNo, accountNo, deliveryId],
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    createdAt: row.created_at,
  }));
}

/**
 * Locks the deliveries that have ended, and skips those that another transaction has locked. `keys` must have at least
 * one.
 */
export async function lockEnded(
  tx: Transaction,
  keys: readonly DeliveryKey[],
): Promise<DeliveryKey[]> {
  const { sql, values } = anyDelivery(keys, DELIVERY);
  const [rows] = await tx.query<KeyRow[]>(
    `SELECT account_no, id AS delivery_id FROM delivery FORCE INDEX (PRIMARY)
     WHERE ${sql} AND state NOT IN (?) FOR UPDATE SKIP LOCKED`,
    [...values, RUNNING_STATES],
  );
  return rows.map(keyFromRow);
}

/** An attempt dated further ahead than this has a wrong date. It must not keep its delivery from removal. */
const CLOCK_AHEAD_MICROS = 86_400_000_000;

/**
 * Lists the deliveries with an attempt that is still needed: it began within the retention, or is not counted yet. An
 * attempt may be much later than its event, because retries take hours, and an owner may retry at any time. The
 * transaction must have locked the deliveries. `keys` must have at least one.
 */
export async function listAttemptsNeeded(
  tx: Transaction,
  keys: readonly DeliveryKey[],
  retentionMicros: number,
): Promise<DeliveryKey[]> {
  const { sql, values } = anyDelivery(keys, ATTEMPT);
  const [rows] = await tx.query<KeyRow[]>(
    `SELECT DISTINCT account_no, delivery_id FROM delivery_attempt FORCE INDEX (PRIMARY)
     WHERE ${sql} AND
       (started_at BETWEEN ${NOW_MICROS} - ? AND ${NOW_MICROS} + ${CLOCK_AHEAD_MICROS} OR counted = FALSE)`,
    [...values, retentionMicros],
  );
  return rows.map(keyFromRow);
}

/** Deletes deliveries with their attempts. The transaction must have locked them. `keys` must have at least one. */
export async function deleteDeliveries(
  tx: Transaction,
  keys: readonly DeliveryKey[],
): Promise<void> {
  const attempts = anyDelivery(keys, ATTEMPT);
  await tx.query(`DELETE FROM delivery_attempt WHERE ${attempts.sql}`, [...attempts.values]);
  const deliveries = anyDelivery(keys, DELIVERY);
  await tx.query(`DELETE FROM delivery WHERE ${deliveries.sql}`, [...deliveries.values]);
}

/** Deletes those of `events` that have no delivery left. `events` must have at least one. */
export async function deleteEventsWithoutDelivery(
  tx: Transaction,
  events: readonly Pick<OldDelivery, "accountNo" | "eventId">[],
): Promise<void> {
  const { sql, values } = anyOf(
    ["e.account_no", "e.id"],
    events.map(({ accountNo, eventId }) => [accountNo, eventId]),
  );
  await tx.query(
    `DELETE e FROM webhook_event e FORCE INDEX (PRIMARY)
     LEFT JOIN delivery d FORCE INDEX (delivery_event)
       ON d.account_no = e.account_no AND d.event_id = e.id
     WHERE ${sql} AND d.id IS NULL`,
    [...values],
  );
}

function keyFromRow(row: KeyRow): DeliveryKey {
  return { accountNo: row.account_no, deliveryId: row.delivery_id };
}
