import { advanceFeedClock, lockAccount } from "../account/account-store.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { newId } from "../ids.ts";
import { insertActivities } from "./activity-feed-store.ts";
import { activityFromDonation } from "./donation-feed.ts";
import { DonationStatus } from "./donation-status.ts";
import { type DonationRecord, insertDonations, listStoredExternalIds } from "./donation-store.ts";
import type { ImportedRow } from "./import-row.ts";
import { insertChunks } from "./insert-chunks.ts";

/**
 * Stores those rows that are not stored already, in one transaction and with one `recorded_at`, and returns
 * how many they were. Of rows with the same external id the first counts.
 */
export async function storeImportedRows(
  pool: Pool,
  accountId: string,
  platform: number,
  rows: readonly ImportedRow[],
): Promise<number> {
  const distinct = new Map<string, ImportedRow>();
  for (const row of rows) {
    const id = idOf(row.externalId);
    if (!distinct.has(id)) distinct.set(id, row);
  }
  if (distinct.size === 0) return 0;
  return inTransaction(pool, async (tx) => {
    const accountNo = await lockAccount(tx, accountId);
    const externalIds = Array.from(distinct.values(), (row) => row.externalId);
    const stored = await listStoredExternalIds(tx, accountNo, platform, externalIds);
    const storedIds = new Set(stored.map(idOf));
    const missing = [...distinct].filter(([id]) => !storedIds.has(id));
    if (missing.length === 0) return 0;
    const recordedAt = await advanceFeedClock(tx, accountNo);
    const donations = missing.map(([, row]) =>
      importedDonation(row, { accountNo, platform, recordedAt }),
    );
    for (const chunk of insertChunks(donations)) {
      await insertDonations(tx, chunk);
      await insertActivities(
        tx,
        chunk.flatMap((donation) => activityFromDonation(donation) ?? []),
      );
    }
    return donations.length;
  });
}

/** One text for each sequence of bytes, to compare them by. */
function idOf(externalId: Buffer): string {
  return externalId.toString("latin1");
}

function importedDonation(
  row: ImportedRow,
  place: { accountNo: number; platform: number; recordedAt: number },
): DonationRecord {
  return {
    ...row,
    ...place,
    recordId: newId(),
    status: DonationStatus.Paid,
    refundedAmountCents: 0,
    test: false,
    subscriptionId: undefined,
  };
}
