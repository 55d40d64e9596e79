import type { Pool } from "../database/pool.ts";
import { listEntryAccounts } from "./claim-store.ts";

/** Some accounts with entries in the outbox, and whether they are the last of the circle. */
export type AccountPage = { readonly accountNos: readonly number[]; readonly isLast: boolean };
/** Returns the next accounts of the circle, at most so many. */
export type AccountCircle = (most: number) => Promise<AccountPage>;

const ENTRIES_AT_ONCE = 128;
/** Then a claim goes with the accounts it has found: the others come first in the next one. */
const LOOKS = 8;

/**
 * Goes once through the accounts that have entries, from the one behind `startNo` to `startNo` itself. It
 * reads pages of entries and skips what else the last account of a page has: that depends on no plan of the
 * database, whose DISTINCT reads 100,000 entries of one account when they came a moment ago.
 */
export function createAccountCircle(pool: Pool, startNo: number): AccountCircle {
  const halves = [{ afterNo: startNo, untilNo: Number.MAX_SAFE_INTEGER }];
  if (startNo > 0) halves.push({ afterNo: 0, untilNo: startNo });

  return async (most) => {
    const found: number[] = [];
    for (let look = 0; look < LOOKS && found.length < most; look++) {
      const [half] = halves;
      if (half === undefined) break;
      const listed = await listEntryAccounts(pool, half, ENTRIES_AT_ONCE);
      const accounts = [...new Set(listed)];
      const taken = accounts.slice(0, most - found.length);
      found.push(...taken);
      half.afterNo = taken.at(-1) ?? half.afterNo;
      if (listed.length < ENTRIES_AT_ONCE && taken.length === accounts.length) halves.shift();
    }
    return { accountNos: found, isLast: halves.length === 0 };
  };
}
