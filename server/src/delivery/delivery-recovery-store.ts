import { NOW_MICROS } from "../database/now.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "./delivery-state.ts";
import type { NewOutboxEntry } from "./outbox-store.ts";

type Row = RowDataPacket & {
  delivery_no: number;
  account_no: number;
  endpoint_id: string;
  id: string;
  sequence: number;
  attempts: number;
};

/**
 * Locks at most `most` deliveries that the workflow engine has and whose next attempt has been overdue for
 * so long, the longest overdue first; as entries that go on from there. Those that anybody writes just now
 * are left out.
 */
export async function lockOverdue(
  tx: Transaction,
  overdueMicros: number,
  most: number,
): Promise<Required<NewOutboxEntry>[]> {
  const [rows] = await tx.execute<Row[]>(
    `SELECT d.delivery_no, d.account_no, d.endpoint_id, d.id, d.sequence, d.attempts
     FROM delivery d FORCE INDEX (delivery_next_attempt)
     WHERE d.state = ${DeliveryState.HandedOver} AND d.next_attempt_at < ${NOW_MICROS} - ?
     ORDER BY d.next_attempt_at LIMIT ${most} FOR UPDATE SKIP LOCKED`,
    [overdueMicros],
  );
  return rows.map((row) => ({
    deliveryNo: row.delivery_no,
    accountNo: row.account_no,
    endpointId: row.endpoint_id,
    deliveryId: row.id,
    sequence: row.sequence,
    goOnFrom: row.attempts + 1,
  }));
}

/**
 * Locks those of the accounts, at least one, that nobody deletes or writes just now: what is added to one
 * that is being deleted would stay.
 */
export async function lockRemaining(
  tx: Transaction,
  accountNos: readonly number[],
): Promise<ReadonlySet<number>> {
  const [rows] = await tx.query<(RowDataPacket & { account_no: number })[]>(
    `SELECT account_no FROM account WHERE account_no IN (?) AND deleted_at IS NULL
     FOR UPDATE SKIP LOCKED`,
    [accountNos],
  );
  return new Set(rows.map((row) => row.account_no));
}

/** Notes that deliveries that the transaction has locked wait for the engine again; at least one. */
export async function markWaiting(tx: Transaction, deliveryNos: readonly number[]): Promise<void> {
  await tx.query("UPDATE delivery SET state = ? WHERE delivery_no IN (?)", [
    DeliveryState.Waiting,
    deliveryNos,
  ]);
}
