import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";
import { DisputeState } from "./donation-status.ts";

export type DisputeRecord = { readonly externalId: Buffer; readonly state: DisputeState };

type DisputeRow = RowDataPacket & { dispute_external_id: Buffer; outcome: DisputeState };
type DonationKey = { readonly accountNo: number; readonly recordId: string };

/** Looks up the disputes of donations by account, platform and the donation's external id. */
export const disputesOf = lookupOf<DisputeRow, DisputeRecord>({
  select: `SELECT d.account_no, d.platform, d.external_id, x.external_id AS dispute_external_id, x.outcome
    FROM donation d
    JOIN donation_dispute x ON x.account_no = d.account_no AND x.record_id = d.record_id`,
  key: ["d.account_no", "d.platform", "d.external_id"],
  fromRow: (row) => ({ externalId: row.dispute_external_id, state: row.outcome }),
});

const DONATION_DISPUTE: Table = {
  insert: "INSERT INTO donation_dispute (account_no, record_id, external_id, outcome)",
};

export function storeDispute({ accountNo, recordId }: DonationKey, externalId: Buffer): Insert {
  return { into: DONATION_DISPUTE, row: [accountNo, recordId, externalId, DisputeState.Open] };
}

export function updateDispute(
  { accountNo, recordId }: DonationKey,
  { externalId, state }: DisputeRecord,
): Statement {
  return {
    sql: `UPDATE donation_dispute SET outcome = ?
      WHERE account_no = ? AND record_id = ? AND external_id = ?`,
    values: [state, accountNo, recordId, externalId],
  };
}
