import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import type { Candidate, Queue, Share } from "./claim-share.ts";
import { DeliveryState } from "./delivery-state.ts";

/** A sequence of a delivery. */
export type Sequence = { readonly deliveryId: string; readonly sequence: number };
/** A sequence in the outbox. */
export type OutboxEntry = Sequence & {
  readonly deliveryNo: number;
  /** The attempt that is due of a sequence that the workflow engine lost. */
  readonly goOnFrom: number | undefined;
};

type AccountRow = RowDataPacket & { account_no: number };
type EndpointRow = AccountRow & { endpoint_id: string };
type CandidateRow = EndpointRow & { delivery_no: number };
type EntryRow = RowDataPacket & {
  delivery_no: number;
  delivery_id: string;
  sequence: number;
  go_on_from: number | null;
};

/** Lists the accounts of the first `most` entries in a range of accounts, in order, each as often. */
export async function listEntryAccounts(
  pool: Pool,
  range: { readonly afterNo: number; readonly untilNo: number },
  most: number,
): Promise<number[]> {
  const [rows] = await pool.execute<AccountRow[]>(
    `SELECT account_no FROM outbox_entry FORCE INDEX (outbox_entry_endpoint)
     WHERE account_no > ? AND account_no <= ? ORDER BY account_no LIMIT ${most}`,
    [range.afterNo, range.untilNo],
  );
  return rows.map((row) => row.account_no);
}

/** Lists the endpoints of these accounts, at least one, that have entries which can be claimed. */
export async function listWaitingEndpoints(
  pool: Pool,
  accountNos: readonly number[],
): Promise<Omit<Queue, "room">[]> {
  // One look into the index an endpoint, which an order would make a sort: how many wait is no matter.
  const [rows] = await pool.query<EndpointRow[]>(
    `SELECT e.account_no, e.id AS endpoint_id FROM endpoint e WHERE e.account_no IN (?) AND (
       SELECT 1 FROM outbox_entry o FORCE INDEX (outbox_entry_endpoint)
       WHERE o.account_no = e.account_no AND o.endpoint_id = e.id AND o.claimable_at <= ${NOW_MICROS}
       LIMIT 1) IS NOT NULL`,
    [accountNos],
  );
  return rows.map((row) => ({ accountNo: row.account_no, endpointId: row.endpoint_id }));
}

/** Lists the oldest entries of each share that can be claimed; at least one share. */
export async function listClaimable(pool: Pool, shares: readonly Share[]): Promise<Candidate[]> {
  const ofOne = ({ most }: Share) => `(SELECT delivery_no, account_no, endpoint_id
    FROM outbox_entry FORCE INDEX (outbox_entry_endpoint)
    WHERE account_no = ? AND endpoint_id = ? AND claimable_at <= ${NOW_MICROS}
    ORDER BY delivery_no LIMIT ${most})`;
  const [rows] = await pool.query<CandidateRow[]>(
    shares.map(ofOne).join(" UNION ALL "),
    shares.flatMap(({ accountNo, endpointId }) => [accountNo, endpointId]),
  );
  return rows.map((row) => ({
    deliveryNo: row.delivery_no,
    accountNo: row.account_no,
    endpointId: row.endpoint_id,
  }));
}

/** Locks those of the entries that can still be claimed and that nobody else has locked. */
export async function lockClaimable(
  tx: Transaction,
  deliveryNos: readonly number[],
): Promise<OutboxEntry[]> {
  const [rows] = await tx.query<EntryRow[]>(
    `SELECT delivery_no, delivery_id, sequence, go_on_from FROM outbox_entry
     WHERE delivery_no IN (?) AND claimable_at <= ${NOW_MICROS} FOR UPDATE SKIP LOCKED`,
    [deliveryNos],
  );
  return rows.map((row) => ({
    deliveryNo: row.delivery_no,
    deliveryId: row.delivery_id,
    sequence: row.sequence,
    goOnFrom: row.go_on_from ?? undefined,
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

/** Ends the lease on entries that nobody will start; at least one. */
export async function releaseEntries(pool: Pool, deliveryNos: readonly number[]): Promise<void> {
  await pool.query(
    `UPDATE outbox_entry SET claimable_at = ${NOW_MICROS} WHERE delivery_no IN (?)`,
    [deliveryNos],
  );
}

/**
 * Notes that the workflow engine has these sequences and that their next attempt is due, unless they have
 * gone on by now; at least one.
 */
export async function markHandedOver(
  tx: Transaction,
  sequences: readonly Sequence[],
): Promise<void> {
  // An index that begins with the state would lock what others write just now.
  await tx.query(
    `UPDATE delivery FORCE INDEX (delivery_id) SET state = ?, next_attempt_at = ${NOW_MICROS}
     WHERE state = ? AND (${anyOf("id", sequences)})`,
    [DeliveryState.HandedOver, DeliveryState.Waiting, ...valuesOf(sequences)],
  );
}

/** Takes sequences out of the outbox; at least one. */
export async function deleteEntries(
  tx: Transaction,
  sequences: readonly Sequence[],
): Promise<number> {
  const [result] = await tx.query<ResultSetHeader>(
    `DELETE o FROM delivery d FORCE INDEX (delivery_id)
     STRAIGHT_JOIN outbox_entry o ON o.delivery_no = d.delivery_no
     WHERE (${anyOf("d.id", sequences)}) AND o.sequence = d.sequence`,
    valuesOf(sequences),
  );
  return result.affectedRows;
}

const anyOf = (id: string, sequences: readonly Sequence[]) =>
  sequences.map(() => `${id} = ? AND ${id.replace(/id$/, "sequence")} = ?`).join(" OR ");

const valuesOf = (sequences: readonly Sequence[]) =>
  sequences.flatMap(({ deliveryId, sequence }) => [deliveryId, sequence]);
