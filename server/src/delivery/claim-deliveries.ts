import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { createAccountCircle } from "./account-circle.ts";
import { endpointLimit, UNDER_WAY_MICROS } from "./claim-limits.ts";
import { pickEvenly, type Queue, sharesOf } from "./claim-share.ts";
import {
  leaseEntries,
  listClaimable,
  listWaitingEndpoints,
  lockClaimable,
  type OutboxEntry,
} from "./claim-store.ts";
import { countUnderWay } from "./under-way-store.ts";

/** How long a relay has to start what it claimed before another relay may. */
const LEASE_MICROS = 30_000_000;

/** What a claim found. */
export type Claim = {
  readonly entries: readonly OutboxEntry[];
  /** Whether some entries wait that could not be claimed at this moment: their endpoints are busy. */
  readonly isHeldBack: boolean;
};

/**
 * Claims deliveries from the outbox, from as many accounts as there are, each in its turn, for endpoints
 * that have room. Comes back empty only when no account has one that can be claimed.
 */
export function createClaims(pool: Pool): (limit: number) => Promise<Claim> {
  // Where the last claim ended: the accounts behind it come first now.
  let lastAccountNo = 0;
  let turn = 0;

  return async (limit) => {
    const nextAccounts = createAccountCircle(pool, lastAccountNo);
    turn += 1;
    let isHeldBack = false;
    for (let page = 1; ; page++) {
      const { accountNos, isLast } = await nextAccounts(limit);
      // With room for all of them, whose turn it is makes no difference.
      lastAccountNo = page === 1 && isLast ? 0 : (accountNos.at(-1) ?? 0);
      if (accountNos.length > 0) {
        const { open, hasBusy } = await lookAt(accountNos);
        const entries = await take(open, limit);
        // Those that another relay took meanwhile may not have been all.
        isHeldBack ||= hasBusy || (open.length > 0 && entries.length === 0);
        if (entries.length > 0) return { entries, isHeldBack };
      }
      if (isLast) return { entries: [], isHeldBack };
    }
  };

  async function lookAt(accountNos: readonly number[]) {
    const [waiting, underWay] = await Promise.all([
      listWaitingEndpoints(pool, accountNos),
      countUnderWay(pool, UNDER_WAY_MICROS),
    ]);
    const inAll = [...underWay.values()].reduce((sum, count) => sum + count, 0);
    const { most, worthClaiming } = endpointLimit(inAll);
    const open = waiting
      .map((queue) => ({ ...queue, room: most - (underWay.get(queue.endpointId) ?? 0) }))
      .filter(({ room }) => room >= worthClaiming);
    return { open, hasBusy: open.length < waiting.length };
  }

  async function take(queues: readonly Queue[], limit: number): Promise<OutboxEntry[]> {
    if (queues.length === 0) return [];
    const candidates = await listClaimable(pool, sharesOf(queues, limit, turn));
    const picked = pickEvenly(candidates, limit);
    if (picked.length === 0) return [];
    return inTransaction(pool, async (tx) => {
      const entries = await lockClaimable(tx, picked);
      if (entries.length === 0) return [];
      const numbers = entries.map(({ deliveryNo }) => deliveryNo);
      await leaseEntries(tx, numbers, LEASE_MICROS);
      // In the order of their turns: whoever has few is not attempted behind all of another's.
      const turns = new Map(picked.map((deliveryNo, position) => [deliveryNo, position]));
      const turnOf = ({ deliveryNo }: OutboxEntry) => turns.get(deliveryNo) ?? 0;
      return entries.toSorted((one, other) => turnOf(one) - turnOf(other));
    });
  }
}
