import { updateFeed } from "../donation/donation-feed.ts";
import { DonationStatus } from "../donation/donation-status.ts";
import { type DonationRecord, donationsBy, storeDonation } from "../donation/donation-store.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import type { Writer } from "../write/writer.ts";
import type { ImportedRow } from "./import-row.ts";

/**
 * Stores the rows of one message that are not stored yet, and returns their number. Of equal external ids the first row
 * counts. The rows get the same `recordedAt`, because they fit into one packet: a message has at most 1 MiB (ADR 0037).
 */
export async function storeImportedRows(
  { write }: Writer,
  accountId: string,
  platform: number,
  rows: readonly ImportedRow[],
): Promise<number> {
  const byId = new Map<string, ImportedRow>();
  for (const row of rows) {
    const id = idOf(row.externalId);
    if (!byId.has(id)) byId.set(id, row);
  }
  if (byId.size === 0) return 0;
  const distinct = [...byId.values()];
  return write({
    accountId,
    load: (accountNo) => ({
      donations: donationsBy(...distinct.map((row) => [accountNo, platform, row.externalId])),
    }),
    decide({ donations }, account) {
      const storedIds = new Set(donations.map(({ externalId }) => idOf(externalId)));
      const missing = distinct.filter((row) => !storedIds.has(idOf(row.externalId)));
      const imported = missing.map((row) => importedDonation(row, platform, account));
      return {
        answer: imported.length,
        changes: imported.map(storeDonation),
        ...(imported.length > 0 && {
          feed: imported.flatMap((donation) => updateFeed(undefined, donation)),
        }),
      };
    },
  });
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
