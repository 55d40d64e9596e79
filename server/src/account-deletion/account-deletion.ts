import { accountNoOf } from "../common/ids.ts";
import type { Packets } from "../database/packet.ts";
import type { Pool } from "../database/pool.ts";
import { markEndpointsDeleted } from "../endpoint/endpoint-store.ts";
import { accountNotFound } from "../write/locked-account.ts";
import { nowFromRows, READ_NOW } from "../write/locked-account-store.ts";
import {
  type DeletionRow,
  eraseApiKeyNames,
  lockForDeletion,
  markDeleted,
} from "./account-deletion-store.ts";
import { purgeAccount } from "./account-purge.ts";

/**
 * Deletes an account. It first ends access and webhooks and erases the profile, calls `onEnded`, then deletes all
 * data. A repeated call joins the deletion or finishes it. Fails with `account_not_found` if the account never existed.
 */
export async function deleteAccount(
  pool: Pool,
  packets: Packets,
  accountId: string,
  onEnded: () => void,
): Promise<void> {
  const accountNo = accountNoOf(accountId);
  if (accountNo === undefined || !(await endAccount(packets, accountNo, accountId))) {
    throw accountNotFound();
  }
  onEnded();
  // No writer can add data any more: every writer locks the account first, and is refused.
  await purgeAccount(pool, accountNo);
}

/** Marks an account as deleted unless it already is. Returns whether the account exists. */
function endAccount(packets: Packets, accountNo: number, accountId: string): Promise<boolean> {
  const load = [lockForDeletion(accountNo, accountId), READ_NOW];
  return packets.loadAndStore(load, ([accounts, now]) => {
    const account = accounts?.[0] as DeletionRow | undefined;
    if (account === undefined) return { statements: [], result: false };
    if (account.deleted_at !== null) return { statements: [], result: true };
    const nowMicros = nowFromRows(now);
    const statements = [
      markDeleted(accountNo, nowMicros),
      eraseApiKeyNames(accountNo),
      // Each attempt reads its endpoint again, so later attempts are canceled.
      markEndpointsDeleted(accountNo, nowMicros),
    ];
    return { statements, result: true };
  });
}
