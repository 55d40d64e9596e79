import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { RowDataPacket } from "../database/pool.ts";

export type RefundRecord = { readonly externalId: Buffer };

type RefundRow = RowDataPacket & { refund_external_id: Buffer };

/** Looks up the refunds of donations by account, platform and the donation's external id. */
export const refundsOf = lookupOf<RefundRow, RefundRecord>({
  select: `SELECT d.account_no, d.platform, d.external_id, r.external_id AS refund_external_id
    FROM donation d
    JOIN donation_refund r ON r.account_no = d.account_no AND r.record_id = d.record_id`,
  key: ["d.account_no", "d.platform", "d.external_id"],
  fromRow: (row) => ({ externalId: row.refund_external_id }),
});

const DONATION_REFUND: Table = {
  insert: "INSERT INTO donation_refund (account_no, record_id, external_id, amount_cents)",
};

export function storeRefund(
  { accountNo, recordId }: { readonly accountNo: number; readonly recordId: string },
  externalId: Buffer,
  amountCents: number,
): Insert {
  return { into: DONATION_REFUND, row: [accountNo, recordId, externalId, amountCents] };
}
