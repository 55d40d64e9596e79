import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import type { ClaimedAttempt, ClaimedRetry } from "./claim.ts";
import { createPollerQueue, type PollerQueue, type Reservation } from "./poller-queue.ts";

/** Who in this process waits for entries of the outbox, of either task. */
export type Outbox = {
  readonly attempts: PollerQueue<ClaimedAttempt>;
  readonly retries: PollerQueue<ClaimedRetry>;
};

/** Creates an outbox that nobody waits at. `nowMs` is a clock that never steps. */
export function createOutbox(nowMs: () => number): Outbox {
  return { attempts: createPollerQueue(nowMs), retries: createPollerQueue(nowMs) };
}

/** What a transaction tells of the entries that it writes. */
export type OutboxWriter = {
  /** Returns the poller that a next first attempt may be leased to as it is written, if one waits. */
  poller(): Pick<Reservation<ClaimedAttempt>, "leaseId"> | undefined;
  /** Notes first attempts that were written, each leased to the poller or to nobody. */
  wrote(attempts: readonly (ClaimedAttempt | undefined)[]): void;
};

/**
 * Runs a transaction that may write first attempts into the outbox. Once it has committed, those that were
 * leased as they were written are given to their poller, and of others one is notified.
 */
export async function inOutboxTransaction<Result>(
  pool: Pool,
  { attempts }: Outbox,
  work: (tx: Transaction, writer: OutboxWriter) => Promise<Result>,
): Promise<Result> {
  let reservation: Reservation<ClaimedAttempt> | undefined;
  let leased: ClaimedAttempt[] = [];
  let capacity = 0;
  let hasOthers = false;
  const writer: OutboxWriter = {
    poller() {
      if (reservation === undefined) {
        reservation = attempts.reserve();
        capacity = reservation?.limit ?? 0;
      }
      capacity -= 1;
      return capacity >= 0 ? reservation : undefined;
    },
    wrote(written) {
      for (const attempt of written) {
        if (attempt === undefined) hasOthers = true;
        else leased.push(attempt);
      }
    },
  };
  try {
    return await inTransaction(pool, (tx) => {
      // The loser of a deadlock runs again.
      leased = [];
      capacity = reservation?.limit ?? 0;
      hasOthers = false;
      return work(tx, writer);
    }).catch((error: unknown) => {
      leased = [];
      throw error;
    });
  } finally {
    reservation?.give(leased);
    if (hasOthers) attempts.notify();
  }
}
