import { NOW_MICROS } from "../database/now.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "./delivery-state.ts";
import { anyDelivery, type DeliveryKey, type RunKey } from "./run-key.ts";

type Row = RowDataPacket & { account_no: number; id: string; run: number; endpoint_id: string };

/**
 * Locks at most `limit` deliveries whose next attempt is overdue by `overdueMicros`, the longest overdue first. Skips
 * deliveries that another transaction has locked.
 */
export async function lockOverdue(
  tx: Transaction,
  overdueMicros: number,
  limit: number,
): Promise<(RunKey & { readonly endpointId: string })[]> {
  const [rows] = await tx.query<Row[]>(
    `SELECT account_no, id, run, endpoint_id FROM delivery FORCE INDEX (delivery_due)
     WHERE state = ${DeliveryState.Retrying} AND next_attempt_at < ${NOW_MICROS} - ?
     ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
    [overdueMicros],
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    deliveryId: row.id,
    run: row.run,
    endpointId: row.endpoint_id,
  }));
}

/** Makes the next attempts of deliveries (at least one) due now. */
export async function makeDue(tx: Transaction, keys: readonly DeliveryKey[]): Promise<void> {
  const { sql, values } = anyDelivery(keys, { account: "account_no", delivery: "id" });
  await tx.query(
    `UPDATE delivery FORCE INDEX (PRIMARY) SET next_attempt_at = ${NOW_MICROS} WHERE ${sql}`,
    [...values],
  );
}
