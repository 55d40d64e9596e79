import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DisputeState } from "./donation-status.ts";

/** A dispute of a donation. */
export type DisputeRecord = { readonly externalId: Buffer; readonly state: DisputeState };

type DisputeRow = RowDataPacket & { external_id: Buffer; outcome: DisputeState };
type DonationKey = { readonly accountNo: number; readonly recordId: string };

/** Lists the disputes of a donation. */
export async function listDisputes(
  tx: Transaction,
  { accountNo, recordId }: DonationKey,
): Promise<DisputeRecord[]> {
  const [rows] = await tx.execute<DisputeRow[]>(
    "SELECT external_id, outcome FROM donation_dispute WHERE account_no = ? AND record_id = ?",
    [accountNo, recordId],
  );
  return rows.map((row) => ({ externalId: row.external_id, state: row.outcome }));
}

/** Stores a new, open dispute. */
export async function insertDispute(
  tx: Transaction,
  { accountNo, recordId }: DonationKey,
  externalId: Buffer,
): Promise<void> {
  await tx.execute(
    "INSERT INTO donation_dispute (account_no, record_id, external_id, outcome) VALUES (?, ?, ?, ?)",
    [accountNo, recordId, externalId, DisputeState.Open],
  );
}

/** Stores how a dispute stands. */
export async function updateDispute(
  tx: Transaction,
  { accountNo, recordId }: DonationKey,
  { externalId, state }: DisputeRecord,
): Promise<void> {
  await tx.execute(
    `UPDATE donation_dispute SET outcome = ?
     WHERE account_no = ? AND record_id = ? AND external_id = ?`,
    [state, accountNo, recordId, externalId],
  );
}
