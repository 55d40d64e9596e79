import { updateFeed } from "../donation/donation-feed.ts";
import { DonationStatus } from "../donation/donation-status.ts";
import { type DonationRecord, donationsBy, storeDonation } from "../donation/donation-store.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import type { Writer } from "../write/writer.ts";
import type { ImportedRow } from "./import-row.ts";
import { insertChunks } from "./insert-chunks.ts";

/**
 * Stores the rows that are not stored yet, and returns their number. Of equal external ids the first row counts. The
 * rows of one packet get the same `recordedAt`.
 */
export async function storeImportedRows(
  writer: Writer,
  accountId: string,
  platform: number,
  rows: readonly ImportedRow[],
): Promise<number> {
  const distinct = new Map<string, ImportedRow>();
  for (const row of rows) {
    const id = idOf(row.externalId);
    if (!distinct.has(id)) distinct.set(id, row);
  }
  let stored = 0;
  for (const chunk of insertChunks([...distinct.values()])) {
    stored += await storeChunk(writer, accountId, platform, chunk);
  }
  return stored;
}

function storeChunk(
  { write }: Writer,
  accountId: string,
  platform: number,
  rows: readonly ImportedRow[],
): Promise<number> {
  return write({
    accountId,
    load: (accountNo) => ({
      donations: donationsBy(...rows.map((row) => [accountNo, platform, row.externalId])),
    }),
    decide({ donations }, account) {
      const storedIds = new Set(donations.map(({ externalId }) => idOf(externalId)));
      const missing = rows.filter((row) => !storedIds.has(idOf(row.externalId)));
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
