import type { Micros, MicrosColumn } from "../common/timestamps.ts";
import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { DonationStatus } from "./donation-status.ts";

/** A stored donation, in the feed or not. */
export type DonationRecord = {
  readonly accountNo: number;
  readonly platform: number;
  readonly externalId: Buffer;
  readonly recordId: string;
  readonly status: DonationStatus;
  readonly amountCents: number;
  readonly currency: string;
  readonly refundedAmountCents: number;
  readonly donorName: string | undefined;
  readonly message: string | undefined;
  readonly donatedAt: Micros;
  /** When the donation was first paid, or imported, in microseconds; `undefined` before that. */
  readonly recordedAt: number | undefined;
  readonly test: boolean;
  /** The service's id of the subscription, if the donation is a contribution. */
  readonly subscriptionId: string | undefined;
};

export type StoredDonation = DonationRecord & {
  /** Whether the donation started its subscription. */
  readonly startsSubscription: boolean;
};

type DonationRow = RowDataPacket & {
  account_no: number;
  platform: number;
  external_id: Buffer;
  record_id: string;
  status: DonationStatus;
  amount_cents: number;
  currency: string;
  refunded_amount_cents: number;
  donor_name: string | null;
  message: string | null;
  donated_at: MicrosColumn;
  recorded_at: number | null;
  test: number;
  subscription_id: string | null;
  starts_subscription: number | null;
};

/** Looks up donations by account, platform and external id. */
export const donationsBy = lookupOf<DonationRow, StoredDonation>({
  select: `SELECT d.account_no, d.platform, d.external_id, d.record_id, d.status, d.amount_cents,
      d.currency, d.refunded_amount_cents, d.donor_name, d.message, d.donated_at, d.recorded_at, d.test,
      d.subscription_id, s.first_record_id = d.record_id AS starts_subscription
    FROM donation d
    LEFT JOIN subscription s ON s.account_no = d.account_no AND s.id = d.subscription_id`,
  key: ["d.account_no", "d.platform", "d.external_id"],
  fromRow: donationFromRow,
});

const DONATION: Table = {
  insert: `INSERT INTO donation (account_no, platform, external_id, record_id, status, amount_cents, currency,
    refunded_amount_cents, donor_name, message, donated_at, recorded_at, test, subscription_id)`,
};

export function storeDonation(donation: DonationRecord): Insert {
  return {
    into: DONATION,
    row: [
      donation.accountNo,
      donation.platform,
      donation.externalId,
      donation.recordId,
      donation.status,
      donation.amountCents,
      donation.currency,
      donation.refundedAmountCents,
      donation.donorName ?? null,
      donation.message ?? null,
      donation.donatedAt,
      donation.recordedAt ?? null,
      donation.test,
      donation.subscriptionId ?? null,
    ],
  };
}

/** Stores a donation's status, refunded amount, time of payment and donor's text. Its other columns never change. */
export function updateDonation(donation: DonationRecord): Statement {
  const { accountNo, platform, externalId, status, refundedAmountCents, recordedAt } = donation;
  const text = [donation.donorName ?? null, donation.message ?? null];
  return {
    sql: `UPDATE donation SET status = ?, refunded_amount_cents = ?, recorded_at = ?, donor_name = ?,
        message = ? WHERE account_no = ? AND platform = ? AND external_id = ?`,
    values: [
      ...[status, refundedAmountCents, recordedAt ?? null, ...text],
      ...[accountNo, platform, externalId],
    ],
  };
}

function donationFromRow(row: DonationRow): StoredDonation {
  return {
    accountNo: row.account_no,
    platform: row.platform,
    externalId: row.external_id,
    recordId: row.record_id,
    status: row.status,
    amountCents: row.amount_cents,
    currency: row.currency,
    refundedAmountCents: row.refunded_amount_cents,
    donorName: row.donor_name ?? undefined,
    message: row.message ?? undefined,
    donatedAt: typeof row.donated_at === "number" ? row.donated_at : BigInt(row.donated_at),
    recordedAt: row.recorded_at ?? undefined,
    test: row.test === 1,
    subscriptionId: row.subscription_id ?? undefined,
    startsSubscription: row.starts_subscription === 1,
  };
}
