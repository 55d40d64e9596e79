import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";

/** Identifies one refund. */
export type RefundKey = {
  readonly accountNo: number;
  readonly recordId: string;
  readonly externalId: Buffer;
};

/** Tells whether a refund is stored. */
export async function hasRefund(tx: Transaction, refund: RefundKey): Promise<boolean> {
  const [rows] = await tx.execute<RowDataPacket[]>(
    "SELECT 1 FROM donation_refund WHERE account_no = ? AND record_id = ? AND external_id = ?",
    [refund.accountNo, refund.recordId, refund.externalId],
  );
  return rows.length > 0;
}

/** Stores a new refund. */
export async function insertRefund(
  tx: Transaction,
  refund: RefundKey,
  amountCents: number,
): Promise<void> {
  await tx.execute(
    `INSERT INTO donation_refund (account_no, record_id, external_id, amount_cents)
     VALUES (?, ?, ?, ?)`,
    [refund.accountNo, refund.recordId, refund.externalId, amountCents],
  );
}
