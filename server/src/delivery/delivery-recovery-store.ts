import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "./delivery-state.ts";
import type { NewOutboxEntry } from "./outbox-store.ts";

/** No endpoint's id, for a list that must not be empty. */
const NO_ENDPOINT = "";

type Row = RowDataPacket & {
  delivery_no: number;
  account_no: number;
  endpoint_id: string;
  id: string;
  sequence: number;
  attempts: number;
};

/** Lists the endpoints of accounts that are being deleted: while deliveries are left, so are they. */
export async function listEndpointsOfDeleted(pool: Pool): Promise<string[]> {
  const [rows] = await pool.execute<(RowDataPacket & { id: string })[]>(
    `SELECT e.id FROM account a FORCE INDEX (account_unpurged)
     JOIN endpoint e ON e.account_no = a.account_no
     WHERE a.purged_at IS NULL AND a.deleted_at IS NOT NULL`,
  );
  return rows.map((row) => row.id);
}

/**
 * Locks at most `most` deliveries that the workflow engine has and whose next attempt has been overdue for
 * so long, the longest overdue first; as entries that go on from there. Those to some endpoints are left
 * out, and those that anybody writes just now.
 */
export async function lockOverdue(
  tx: Transaction,
  overdueMicros: number,
  most: number,
  leftOut: ReadonlySet<string>,
): Promise<Required<NewOutboxEntry>[]> {
  // By endpoint, which the index holds: not a delivery is read of what is left out.
  const [rows] = await tx.query<Row[]>(
    `SELECT d.delivery_no, d.account_no, d.endpoint_id, d.id, d.sequence, d.attempts
     FROM delivery d FORCE INDEX (delivery_next_attempt)
     WHERE d.state = ${DeliveryState.HandedOver} AND d.next_attempt_at < ${NOW_MICROS} - ?
       AND d.endpoint_id NOT IN (?)
     ORDER BY d.next_attempt_at LIMIT ${most} FOR UPDATE SKIP LOCKED`,
    [overdueMicros, [NO_ENDPOINT, ...leftOut]],
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
