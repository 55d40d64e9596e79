import { updateFeed } from "../donation/donation-feed.ts";
import { DonationStatus } from "../donation/donation-status.ts";
import {
  type DonationRecord,
  donationsBy,
  type StoredDonation,
  storeDonation,
} from "../donation/donation-store.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import type { Writer } from "../write/writer.ts";
import type { ImportedRow } from "./import-row.ts";

/**
 * Stores the rows of one message that are not stored yet, and returns their number. Also returns rows that differ from
 * the stored donation, or from an earlier row, with the same external id. All stored rows get the same `recordedAt`,
 * because they fit into one packet: a message has at most 1 MiB (ADR 0037).
 */
export async function storeImportedRows(
  { write }: Writer,
  accountId: string,
  platform: number,
  rows: readonly ImportedRow[],
): Promise<{ readonly stored: number; readonly differing: readonly ImportedRow[] }> {
  const firstById = new Map<string, ImportedRow>();
  for (const row of rows) {
    const id = idOf(row.externalId);
    if (!firstById.has(id)) firstById.set(id, row);
  }
  if (firstById.size === 0) return { stored: 0, differing: [] };
  const first = [...firstById.values()];
  return write({
    accountId,
    load: (accountNo) => ({
      donations: donationsBy(...first.map((row) => [accountNo, platform, row.externalId])),
    }),
    decide({ donations }, account) {
      const storedById = new Map(donations.map((one) => [idOf(one.externalId), one]));
      const missing = first.filter((row) => !storedById.has(idOf(row.externalId)));
      const imported = missing.map((row) => importedDonation(row, platform, account));
      const differing = rows.filter((row) => {
        const id = idOf(row.externalId);
        return !isSame(row, storedById.get(id) ?? firstById.get(id) ?? row);
      });
      return {
        answer: { stored: imported.length, differing },
        changes: imported.map(storeDonation),
        ...(imported.length > 0 && {
          feed: imported.flatMap((donation) => updateFeed(undefined, donation)),
        }),
      };
    },
  });
}

/** Compares a row with the donation that has its external id. A deleted donation has no text. */
function isSame(row: ImportedRow, other: ImportedRow | StoredDonation): boolean {
  const isDeleted = "status" in other && other.status === DonationStatus.Deleted;
  return (
    row.amountCents === other.amountCents &&
    row.currency === other.currency &&
    BigInt(row.donatedAt) === BigInt(other.donatedAt) &&
    (isDeleted || (row.donorName === other.donorName && row.message === other.message))
  );
}

/** Returns a string that identifies the bytes, for comparison. */
function idOf(externalId: Buffer): string {
  return externalId.toString("latin1");
}

function importedDonation(
  row: ImportedRow,
  platform: number,
  { accountNo, recordedAt, newId }: LockedAccount,
): DonationRecord {
  return {
    ...row,
    ...{ accountNo, platform, recordedAt, recordId: newId() },
    status: DonationStatus.Paid,
    refundedAmountCents: 0,
    test: false,
    subscriptionId: undefined,
  };
}
