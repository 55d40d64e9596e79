import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import type { Micros, MicrosColumn } from "../timestamps.ts";
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
  /** When it was first paid; `undefined` before that. */
  readonly recordedAt: number | undefined;
  readonly test: boolean;
  /** The service's own id of the subscription that it is a contribution to. */
  readonly subscriptionId: string | undefined;
};

type DonationRow = RowDataPacket & {
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
};

/** Finds a donation by its writer's external id. */
export async function findDonation(
  tx: Transaction,
  accountNo: number,
  platform: number,
  externalId: Buffer,
): Promise<DonationRecord | undefined> {
  const [rows] = await tx.execute<DonationRow[]>(
    `SELECT record_id, status, amount_cents, currency, refunded_amount_cents, donor_name, message,
       donated_at, recorded_at, test, subscription_id
     FROM donation WHERE account_no = ? AND platform = ? AND external_id = ?`,
    [accountNo, platform, externalId],
  );
  return rows[0] && donationFromRow(rows[0], { accountNo, platform, externalId });
}

/** Returns those of `externalIds`, at least one, that an account has donations of a platform with. */
export async function listStoredExternalIds(
  tx: Transaction,
  accountNo: number,
  platform: number,
  externalIds: readonly Buffer[],
): Promise<Buffer[]> {
  const [rows] = await tx.query<(RowDataPacket & { external_id: Buffer })[]>(
    "SELECT external_id FROM donation WHERE account_no = ? AND platform = ? AND external_id IN (?)",
    [accountNo, platform, externalIds],
  );
  return rows.map((row) => row.external_id);
}

/** Stores new donations; at least one. */
export async function insertDonations(
  tx: Transaction,
  donations: readonly DonationRecord[],
): Promise<void> {
  await tx.query(
    `INSERT INTO donation (account_no, platform, external_id, record_id, status, amount_cents, currency,
       refunded_amount_cents, donor_name, message, donated_at, recorded_at, test, subscription_id) VALUES ?`,
    [donations.map(donationToRow)],
  );
}

/** Stores what became of a donation. */
export async function updateDonation(
  tx: Transaction,
  { accountNo, recordId, status, refundedAmountCents, recordedAt }: DonationRecord,
): Promise<void> {
  await tx.execute(
    `UPDATE donation SET status = ?, refunded_amount_cents = ?, recorded_at = ?
     WHERE account_no = ? AND record_id = ?`,
    [status, refundedAmountCents, recordedAt ?? null, accountNo, recordId],
  );
}

/** Erases what a donor wrote. */
export async function eraseDonationText(
  tx: Transaction,
  { accountNo, recordId }: DonationRecord,
): Promise<void> {
  await tx.execute(
    "UPDATE donation SET donor_name = NULL, message = NULL WHERE account_no = ? AND record_id = ?",
    [accountNo, recordId],
  );
}

function donationToRow(donation: DonationRecord): unknown[] {
  return [
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
  ];
}

function donationFromRow(
  row: DonationRow,
  key: Pick<DonationRecord, "accountNo" | "platform" | "externalId">,
): DonationRecord {
  return {
    ...key,
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
  };
}
