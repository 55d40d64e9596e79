import type { Timing } from "@activity/runtime/timing";
import type { ClaimedAttempt, ClaimedRetry } from "./claim.ts";
import { createPollerQueue, type PollerQueue, type Reservation } from "./poller-queue.ts";
import type { DeliveryKey } from "./run-key.ts";

/** A lease that is older than this when its poller is answered is given up: too little of it is left. */
export const MAX_LEASE_AGE_MS = 2_000;

/** Who in this process waits for entries of the outbox, of either task. */
export type Outbox = {
  readonly attempts: PollerQueue<ClaimedAttempt>;
  readonly retries: PollerQueue<ClaimedRetry>;
  /** By lease, the entries that no poller heard of. The next claim releases them. */
  readonly unheard: Map<string, readonly DeliveryKey[]>;
  readonly timing: Timing;
};

/** Creates an outbox that nobody waits at. */
export function createOutbox(timing: Timing): Outbox {
  const [attempts, retries] = [
    createPollerQueue<ClaimedAttempt>(timing),
    createPollerQueue<ClaimedRetry>(timing),
  ];
  return { attempts, retries, unheard: new Map(), timing };
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
  /** Gives what was leased to its pollers, and notifies one of the rest. Returns whether there was any. */
  committed(): { readonly hasAttempts: boolean };
  /** Leaves the pollers waiting. What was committed all the same is claimed when its lease is over. */
  failed(): void;
};

/** Creates the leases of one transaction, before it is begun. */
export function createLeases({ attempts, unheard, timing }: Outbox): Leases {
  const { nowMs } = timing;
  const pollers: { reservation: Reservation<ClaimedAttempt>; leased: ClaimedAttempt[] }[] = [];
  let hasUnleased = false;
  // The database takes the time that leases count from before it answers with what the transaction loads.
  const begunMs = nowMs();

  function reserveFor(endpointId: string) {
    const canTake = ({ reservation, leased }: (typeof pollers)[number]) =>
      leased.length < reservation.limit && !reservation.slow.has(endpointId);
    const known = pollers.find(canTake);
    if (known !== undefined) return known;
    const reservation = attempts.reserve();
    if (reservation === undefined) return undefined;
    const poller = { reservation, leased: [] };
    pollers.push(poller);
    return canTake(poller) ? poller : undefined;
  }

  return {
    begin() {
      hasUnleased = false;
      for (const poller of pollers) poller.leased = [];
    },
    lease(attempt) {
      const { endpointId } = attempt;
      const poller = attempts.isThrottled(endpointId) ? undefined : reserveFor(endpointId);
      if (poller === undefined) {
        hasUnleased = true;
        return undefined;
      }
      const { leaseId } = poller.reservation;
      poller.leased.push({ ...attempt, leaseId });
      return leaseId;
    },
    committed() {
      const isFresh = nowMs() - begunMs <= MAX_LEASE_AGE_MS;
      for (const { reservation, leased } of pollers) {
        const isHeard = reservation.give(isFresh ? leased : []) && isFresh;
        if (isHeard || leased.length === 0) continue;
        unheard.set(reservation.leaseId, leased);
        hasUnleased = true;
      }
      if (hasUnleased) attempts.notify();
      return { hasAttempts: hasUnleased || pollers.some(({ leased }) => leased.length > 0) };
    },
    failed() {
      for (const { reservation } of pollers) reservation.give([]);
      if (hasUnleased) attempts.notify();
    },
  };
}
