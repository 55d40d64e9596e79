import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import {
  leaseEntries,
  listClaimable,
  listWaitingAccounts,
  lockClaimable,
  type Sequence,
} from "./claim-store.ts";

/** How long a relay has to start what it claimed before another relay may. */
const LEASE_MICROS = 30_000_000;

/** Claims deliveries from the outbox, from as many accounts as there are, each in its turn. */
export function createClaims(pool: Pool): (limit: number) => Promise<Sequence[]> {
  // Where the last claim ended: the accounts behind it come first now.
  let lastAccountNo = 0;

  return async (limit) => {
    const accountNos = await nextAccounts(limit);
    if (accountNos.length === 0) return [];
    const perAccount = Math.ceil(limit / accountNos.length);
    const claimable = await listClaimable(pool, accountNos, perAccount);
    if (claimable.length === 0) return [];
    return inTransaction(pool, async (tx) => {
      const entries = await lockClaimable(tx, claimable.slice(0, limit));
      if (entries.length === 0) return [];
      const numbers = entries.map(({ deliveryNo }) => deliveryNo);
      await leaseEntries(tx, numbers, LEASE_MICROS);
      return entries;
    });
  };

  async function nextAccounts(most: number): Promise<number[]> {
    const behind = await listWaitingAccounts(pool, lastAccountNo, most);
    const missing = most - behind.length;
    const before =
      missing > 0 && lastAccountNo > 0 ? await listWaitingAccounts(pool, 0, missing) : [];
    const accountNos = [...new Set([...behind, ...before])];
    // With room for all of them, whose turn it is makes no difference.
    lastAccountNo = accountNos.length < most ? 0 : (accountNos.at(-1) ?? 0);
    return accountNos;
  }
}
