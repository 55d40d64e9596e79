import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "./delivery-state.ts";

/** A sequence of a delivery. */
export type Sequence = { readonly deliveryId: string; readonly sequence: number };
/** A sequence in the outbox. */
export type OutboxEntry = Sequence & { readonly deliveryNo: number };

type AccountRow = RowDataPacket & { account_no: number };
type NumberRow = RowDataPacket & { delivery_no: number };
type EntryRow = NumberRow & { delivery_id: string; sequence: number };

/** Lists at most `most` accounts behind `afterAccountNo` that have entries in the outbox. */
export async function listWaitingAccounts(
  pool: Pool,
  afterAccountNo: number,
  most: number,
): Promise<number[]> {
  const [rows] = await pool.execute<AccountRow[]>(
    `SELECT DISTINCT account_no FROM outbox_entry WHERE account_no > ?
     ORDER BY account_no LIMIT ${most}`,
    [afterAccountNo],
  );
  return rows.map((row) => row.account_no);
}

/** Lists the oldest entries of each of these accounts that can be claimed; at least one account. */
export async function listClaimable(
  pool: Pool,
  accountNos: readonly number[],
  perAccount: number,
): Promise<number[]> {
  const ofOne = `(SELECT delivery_no FROM outbox_entry WHERE account_no = ?
    AND claimable_at <= ${NOW_MICROS} ORDER BY delivery_no LIMIT ${perAccount})`;
  const [rows] = await pool.query<NumberRow[]>(accountNos.map(() => ofOne).join(" UNION ALL "), [
    ...accountNos,
  ]);
  return rows.map((row) => row.delivery_no);
}

/** Locks those of the entries that can still be claimed and that nobody else has locked. */
export async function lockClaimable(
  tx: Transaction,
  deliveryNos: readonly number[],
): Promise<OutboxEntry[]> {
  const [rows] = await tx.query<EntryRow[]>(
    `SELECT delivery_no, delivery_id, sequence FROM outbox_entry
     WHERE delivery_no IN (?) AND claimable_at <= ${NOW_MICROS} FOR UPDATE SKIP LOCKED`,
    [deliveryNos],
  );
  return rows.map(({ delivery_no: deliveryNo, delivery_id: deliveryId, sequence }) => ({
    deliveryNo,
    deliveryId,
    sequence,
  }));
}

/** Gives a lease on entries that the transaction has locked; at least one. */
export async function leaseEntries(
  tx: Transaction,
  deliveryNos: readonly number[],
  leaseMicros: number,
): Promise<void> {
  await tx.query(
    `UPDATE outbox_entry SET claimable_at = ${NOW_MICROS} + ${leaseMicros} WHERE delivery_no IN (?)`,
    [deliveryNos],
  );
}

/** Notes that the workflow engine has these sequences, unless they have ended by now; at least one. */
export async function markHandedOver(
  tx: Transaction,
  sequences: readonly Sequence[],
): Promise<void> {
  await tx.query(`UPDATE delivery SET state = ? WHERE state = ? AND (${anyOf("id", sequences)})`, [
    DeliveryState.HandedOver,
    DeliveryState.Waiting,
    ...valuesOf(sequences),
  ]);
}

/** Takes sequences out of the outbox; at least one. */
export async function deleteEntries(
  tx: Transaction,
  sequences: readonly Sequence[],
): Promise<number> {
  const [result] = await tx.query<ResultSetHeader>(
    `DELETE o FROM outbox_entry o JOIN delivery d ON d.delivery_no = o.delivery_no
     WHERE (${anyOf("d.id", sequences)}) AND o.sequence = d.sequence`,
    valuesOf(sequences),
  );
  return result.affectedRows;
}

const anyOf = (id: string, sequences: readonly Sequence[]) =>
  sequences.map(() => `${id} = ? AND ${id.replace(/id$/, "sequence")} = ?`).join(" OR ");

const valuesOf = (sequences: readonly Sequence[]) =>
  sequences.flatMap(({ deliveryId, sequence }) => [deliveryId, sequence]);
