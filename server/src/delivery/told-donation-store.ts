import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { DeliveryRecord } from "./delivery-store.ts";

/** The part of a donation that its deliveries show. */
export type ToldDonation = {
  readonly recordId: string;
  readonly recordedAt: number;
  readonly donorName: string | undefined;
  readonly amountCents: number;
  readonly currency: string;
};

type Row = RowDataPacket & {
  event_id: string;
  record_id: string;
  recorded_at: number;
  donor_name: string | null;
  amount_cents: number;
  currency: string;
};

/** Lists the donations of some deliveries, by event id. Test events have no donation. */
export async function listDonationsOf(
  pool: Pool,
  accountNo: number,
  deliveries: readonly DeliveryRecord[],
): Promise<ReadonlyMap<string, ToldDonation>> {
  const eventIds = new Set(deliveries.filter(({ test }) => !test).map(({ eventId }) => eventId));
  if (eventIds.size === 0) return new Map();
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT e.id AS event_id, d.record_id, d.recorded_at, d.donor_name, d.amount_cents, d.currency
     FROM webhook_event e FORCE INDEX (PRIMARY)
     STRAIGHT_JOIN donation d FORCE INDEX (donation_record)
       ON d.account_no = e.account_no AND d.record_id = e.record_id
     WHERE e.account_no = ? AND e.id IN (?)`,
    [accountNo, [...eventIds]],
  );
  return new Map(rows.map((row) => [row.event_id, donationFromRow(row)]));
}

function donationFromRow(row: Row): ToldDonation {
  return {
    recordId: row.record_id,
    recordedAt: row.recorded_at,
    donorName: row.donor_name ?? undefined,
    amountCents: row.amount_cents,
    currency: row.currency,
  };
}
