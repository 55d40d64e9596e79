import type { Pool } from "../database/pool.ts";
import { listWaitingAccounts } from "./claim-store.ts";

/** Returns the next accounts with entries in the outbox; fewer than asked for once all were returned. */
export type AccountCircle = (most: number) => Promise<number[]>;

/** Goes once through the accounts that have entries, from the one behind `startNo` to `startNo` itself. */
export function createAccountCircle(pool: Pool, startNo: number): AccountCircle {
  let range = { afterNo: startNo, untilNo: Number.MAX_SAFE_INTEGER };

  return async function next(most: number): Promise<number[]> {
    const found = await listWaitingAccounts(pool, range, most);
    if (found.length === most) {
      range = { ...range, afterNo: found.at(-1) ?? range.afterNo };
      return found;
    }
    if (range.untilNo === startNo || startNo === 0) return found;
    range = { afterNo: 0, untilNo: startNo };
    return [...found, ...(await next(most - found.length))];
  };
}
