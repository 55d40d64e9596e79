import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { markEndpointsDeleted } from "../endpoint/endpoint-store.ts";
import { eraseApiKeyNames, lockForDeletion, markDeleted } from "./account-deletion-store.ts";
import { purgeAccount } from "./account-purge.ts";
import { accountNotFound } from "./account-store.ts";

/**
 * Deletes an account: access ends, webhooks end and the profile is erased at once, then all of its data
 * goes. Called again, it finishes what was broken off. Fails with `account_not_found` when there never was
 * one.
 */
export async function deleteAccount(pool: Pool, accountId: string): Promise<void> {
  const accountNo = await inTransaction(pool, async (tx) => {
    const account = await lockForDeletion(tx, accountId);
    if (account === undefined) throw accountNotFound();
    if (!account.deleted) {
      await markDeleted(tx, account.accountNo);
      await eraseApiKeyNames(tx, account.accountNo);
      // An attempt reads its endpoint as it is then: from here on each one is canceled.
      await markEndpointsDeleted(tx, account.accountNo);
    }
    return account.accountNo;
  });
  // No writer can add to it any more: each one locks the account first, and is refused.
  await purgeAccount(pool, accountNo);
}
