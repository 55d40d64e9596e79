import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import {
  DATA_TABLES,
  deleteDataRows,
  eraseApiKeyNames,
  listUnpurgedAccounts,
  lockForDeletion,
  markDeleted,
  markPurged,
} from "./account-deletion-store.ts";
import { accountNotFound } from "./account-store.ts";

/** Rows deleted at once: so few that a reader or writer of other accounts never waits long. */
const ROWS_AT_ONCE = 5_000;

/**
 * Deletes an account: access ends and the profile is erased at once, then all of its data goes. Called
 * again, it finishes what was broken off. Fails with `account_not_found` when there never was one.
 */
export async function deleteAccount(pool: Pool, accountId: string): Promise<void> {
  const accountNo = await inTransaction(pool, async (tx) => {
    const account = await lockForDeletion(tx, accountId);
    if (account === undefined) throw accountNotFound();
    if (!account.deleted) {
      await markDeleted(tx, account.accountNo);
      await eraseApiKeyNames(tx, account.accountNo);
    }
    return account.accountNo;
  });
  // No writer can add to it any more: each one locks the account first, and is refused.
  await purgeAccount(pool, accountNo);
}

/** Finishes the deletions that were broken off, by the end of the process for one. */
export async function purgeDeletedAccounts(pool: Pool): Promise<void> {
  for (const accountNo of await listUnpurgedAccounts(pool)) await purgeAccount(pool, accountNo);
}

async function purgeAccount(pool: Pool, accountNo: number): Promise<void> {
  for (const table of DATA_TABLES) {
    let deleted: number;
    do {
      deleted = await deleteDataRows(pool, table, accountNo, ROWS_AT_ONCE);
    } while (deleted === ROWS_AT_ONCE);
  }
  await markPurged(pool, accountNo);
}
