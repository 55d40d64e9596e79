import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { type DeliveryState, RUNNING_STATES } from "./delivery-state.ts";

/**
 * Every table that holds deliveries or what belongs to them. An ended delivery can have an entry still,
 * when it ended before the relay came back to mark it.
 */
export const TABLES_OF_DELIVERIES = ["outbox_entry", "delivery_attempt", "delivery"] as const;

/** A delivery that may be old enough to be removed. */
export type OldDelivery = {
  readonly deliveryNo: number;
  readonly eventNo: number;
  readonly state: DeliveryState;
  readonly isOld: boolean;
  /** Whether it was made when the database's clock ran ahead. */
  readonly isAhead: boolean;
};

type NumberRow = RowDataPacket & { delivery_no: number };
type Row = NumberRow & {
  event_no: number;
  state: DeliveryState;
  is_old: number;
  is_ahead: number;
};

/** Lists the next deliveries behind `afterNo`, in the order they were made, at most `most`. */
export async function listDeliveriesByAge(
  pool: Pool,
  afterNo: number,
  retentionMicros: number,
  most: number,
): Promise<OldDelivery[]> {
  const [rows] = await pool.execute<Row[]>(
    `SELECT delivery_no, event_no, state, created_at < ${NOW_MICROS} - ? AS is_old,
       created_at > ${NOW_MICROS} AS is_ahead
     FROM delivery WHERE delivery_no > ? ORDER BY delivery_no LIMIT ${most}`,
    [retentionMicros, afterNo],
  );
  return rows.map((row) => ({
    deliveryNo: row.delivery_no,
    eventNo: row.event_no,
    state: row.state,
    isOld: row.is_old === 1,
    isAhead: row.is_ahead === 1,
  }));
}

/**
 * Locks those of the deliveries that have ended, at least one, and returns their numbers. Those that
 * anybody writes just now are left out.
 */
export async function lockEnded(
  tx: Transaction,
  deliveryNos: readonly number[],
): Promise<number[]> {
  const [rows] = await tx.query<NumberRow[]>(
    `SELECT delivery_no FROM delivery WHERE delivery_no IN (?) AND state NOT IN (?)
     FOR UPDATE SKIP LOCKED`,
    [deliveryNos, RUNNING_STATES],
  );
  return rows.map((row) => row.delivery_no);
}

/**
 * Lists those of the deliveries that the transaction has locked, at least one, of which an attempt began
 * within the retention: they ended later than their event happened, by hours or by a manual retry.
 */
export async function listAttemptedSince(
  tx: Transaction,
  deliveryNos: readonly number[],
  retentionMicros: number,
): Promise<ReadonlySet<number>> {
  const [rows] = await tx.query<NumberRow[]>(
    `SELECT DISTINCT delivery_no FROM delivery_attempt FORCE INDEX (PRIMARY)
     WHERE delivery_no IN (?) AND started_at >= ${NOW_MICROS} - ?`,
    [deliveryNos, retentionMicros],
  );
  return new Set(rows.map((row) => row.delivery_no));
}

/** Deletes what a table holds of deliveries that the transaction has locked; at least one. */
export async function deleteRowsOf(
  tx: Transaction,
  table: (typeof TABLES_OF_DELIVERIES)[number],
  deliveryNos: readonly number[],
): Promise<void> {
  await tx.query(`DELETE FROM ${table} WHERE delivery_no IN (?)`, [deliveryNos]);
}

/** Deletes those of the events that no delivery is left of; a delivery has the time of its event. */
export async function deleteEventsOfGone(
  tx: Transaction,
  eventNos: readonly number[],
): Promise<void> {
  await tx.query(
    `DELETE e FROM webhook_event e LEFT JOIN delivery d
       ON d.account_no = e.account_no AND d.created_at = e.created_at AND d.event_no = e.event_no
     WHERE e.event_no IN (?) AND d.delivery_no IS NULL`,
    [eventNos],
  );
}
