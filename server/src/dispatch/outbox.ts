import type { Timing } from "@activity/runtime/timing";
import type { ClaimedAttempt, ClaimedRetry } from "./claim.ts";
import { createPollerQueue, type PollerQueue, type Reservation } from "./poller-queue.ts";
import type { DeliveryKey } from "./run-key.ts";

/** The core gives up an older lease, because too little time is left for its poller. */
export const MAX_LEASE_AGE_MS = 2_000;

/** The pollers of this process that wait for outbox entries, by task. */
export type Outbox = {
  readonly attempts: PollerQueue<ClaimedAttempt>;
  readonly retries: PollerQueue<ClaimedRetry>;
  /** Entries that no poller received, by lease id. The next claim releases them. */
  readonly unheard: Map<string, readonly DeliveryKey[]>;
  readonly timing: Timing;
};

export function createOutbox(timing: Timing): Outbox {
  const [attempts, retries] = [
    createPollerQueue<ClaimedAttempt>(timing),
    createPollerQueue<ClaimedRetry>(timing),
  ];
  return { attempts, retries, unheard: new Map(), timing };
}

/** Leases to waiting pollers, for the first attempts that one transaction writes. */
export type Leases = {
  /** Begins the transaction, for the first time or again. Forgets the attempts that it leased before. */
  begin(): void;
  /**
   * Leases an attempt to a waiting poller and returns the lease's id. Returns `undefined` if no poller can take it, or
   * if older entries of its endpoint must come first.
   */
  lease(attempt: Omit<ClaimedAttempt, "leaseId">): string | undefined;
  /**
   * Gives the leased attempts to their pollers, and notifies a poller if any attempt reached none. Returns whether the
   * transaction wrote any attempts.
   */
  committed(): { readonly hasAttempts: boolean };
  /**
   * Lets the pollers continue to wait. If the transaction was committed nevertheless, its entries are claimed after
   * their leases end.
   */
  failed(): void;
};

/** Creates the leases of one transaction, before it begins. */
export function createLeases({ attempts, unheard, timing }: Outbox): Leases {
  const { nowMs } = timing;
  const pollers: { reservation: Reservation<ClaimedAttempt>; leased: ClaimedAttempt[] }[] = [];
  let hasUnleased = false;
  // Reads the clock before the load, because a lease begins at the database's time during the load.
  const begunMs = nowMs();

  function reserveFor(endpointId: string) {
    const canTake = ({ reservation, leased }: (typeof pollers)[number]) =>
      leased.length < reservation.limit && !reservation.slow.has(endpointId);
    const reserved = pollers.find(canTake);
    if (reserved !== undefined) return reserved;
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
