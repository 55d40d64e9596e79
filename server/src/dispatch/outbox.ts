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

/** The leases under which a transaction writes first attempts, for pollers that wait. */
export type Leases = {
  /** Begins the transaction, or begins it again: what it leased before is forgotten. */
  begin(): void;
  /**
   * Leases an attempt that is written to a poller that waits, if there is one and nothing of its endpoint comes first,
   * and returns the lease's id.
   */
  lease(attempt: Omit<ClaimedAttempt, "leaseId">): string | undefined;
  /** Gives what was leased to its pollers; of what was not, one is notified. Returns whether there was any. */
  committed(): { readonly hasAttempts: boolean };
  /** Leaves the pollers waiting. What was committed all the same is claimed when its lease is over. */
  failed(): void;
};

/** Creates the leases of one transaction. */
export function createLeases(attempts: PollerQueue<ClaimedAttempt>): Leases {
  const pollers: { reservation: Reservation<ClaimedAttempt>; leased: ClaimedAttempt[] }[] = [];
  let hasUnleased = false;

  function reserve() {
    const known = pollers.find(({ reservation, leased }) => leased.length < reservation.limit);
    if (known !== undefined) return known;
    const reservation = attempts.reserve();
    if (reservation === undefined) return undefined;
    const poller = { reservation, leased: [] };
    pollers.push(poller);
    return poller;
  }

  return {
    begin() {
      hasUnleased = false;
      for (const poller of pollers) poller.leased = [];
    },
    lease(attempt) {
      const poller = attempts.isThrottled(attempt.endpointId) ? undefined : reserve();
      if (poller === undefined) {
        hasUnleased = true;
        return undefined;
      }
      const { leaseId } = poller.reservation;
      poller.leased.push({ ...attempt, leaseId });
      return leaseId;
    },
    committed() {
      for (const { reservation, leased } of pollers) reservation.give(leased);
      if (hasUnleased) attempts.notify();
      return { hasAttempts: hasUnleased || pollers.some(({ leased }) => leased.length > 0) };
    },
    failed() {
      for (const { reservation } of pollers) reservation.give([]);
      if (hasUnleased) attempts.notify();
    },
  };
}
