import type { Timing } from "@activity/runtime/timing";
import { newId } from "../common/ids.ts";

/** How often pollers look without a notification, for example for entries that another instance committed. §6.4 */
const SWEEP_MS = 5_000;

/** A poller with capacity claims again within this time. Without a claim for longer, no poller counts as present. */
const ABSENT_AFTER_MS = 1_000;

/** A waiting poller that is reserved while a transaction writes entries for it. */
export type Reservation<Entry> = {
  readonly leaseId: string;
  /** The most entries that the poller takes. */
  readonly limit: number;
  /** Endpoints whose entries the poller does not take. */
  readonly slow: ReadonlySet<string>;
  /**
   * Gives the poller the committed entries, if any. Returns false if its wait has ended, so that it did not get them.
   */
  give(entries: readonly Entry[]): boolean;
};

/** The pollers of this process that found nothing to claim and wait. */
export type PollerQueue<Entry> = {
  /** Makes the poller that has waited longest look. Called after a commit that may have added entries. */
  notify(): void;
  /** Notifies if the last look left entries of one of these endpoints. Called when their attempts end. */
  notifyCapacity(endpointIds: ReadonlySet<string>): void;
  /** Reserves the idle poller that has waited longest, if any, until `give` is called. */
  reserve(): Reservation<Entry> | undefined;
  /** Whether the last look left entries of an endpoint. New entries must come after them. */
  isThrottled(endpointId: string): boolean;
  /**
   * Resolves when a poller waits, because every entry is then claimed. Resolves after `milliseconds` at the latest, and
   * at once while nobody claims.
   */
  caughtUp(milliseconds: number): Promise<void>;
  /**
   * Claims by `look`. While that finds nothing, waits and looks again, until `signal` is aborted. After a look that
   * found nothing, no poller looks before a notification or the next sweep.
   */
  claim(
    look: () => Promise<Look<Entry>>,
    poller: Poller,
    signal: AbortSignal,
  ): Promise<readonly Entry[]>;
};

export type Look<Entry> = {
  readonly entries: readonly Entry[];
  /** Endpoints that are at their limit, so that the claim left some of their entries. */
  readonly throttled: ReadonlySet<string>;
  /** Whether there may be more entries. False if the look found nothing. */
  readonly hasMore: boolean;
};

export type Poller = {
  readonly limit: number;
  /** Whether new entries may be leased to the poller while it waits. */
  readonly idle: boolean;
  /** Endpoints whose new entries may not be leased to the poller. */
  readonly slow: ReadonlySet<string>;
};

type Waiter<Entry> = {
  readonly poller: Poller;
  readonly wake: (entries: readonly Entry[]) => void;
  isOver: boolean;
};

export function createPollerQueue<Entry>(timing: Timing): PollerQueue<Entry> {
  const { nowMs } = timing;
  const waiters = new Set<Waiter<Entry>>();
  const catchUps = new Set<() => void>();
  let lookAgainAtMs = 0;
  let lastClaimMs = Number.NEGATIVE_INFINITY;
  let throttled: ReadonlySet<string> = new Set();
  let startedLooks = 0;
  /** The number of the look that found `throttled`. */
  let throttledBy = 0;
  /**
   * For each look in progress, the endpoints whose attempts ended meanwhile. The look may have counted those attempts
   * as leased.
   */
  const endedDuring = new Set<Set<string>>();

  function notify(): void {
    lookAgainAtMs = 0;
    const [longest] = waiters;
    longest?.wake([]);
  }

  function wait(poller: Poller, signal: AbortSignal): Promise<readonly Entry[]> {
    return new Promise((resolve) => {
      // Also ends the wait of a reserved poller, because the commit that it is reserved for may hang.
      const end = () => waiter.wake([]);
      const waiter: Waiter<Entry> = {
        poller,
        isOver: false,
        wake(entries) {
          waiter.isOver = true;
          waiters.delete(waiter);
          cancel();
          signal.removeEventListener("abort", end);
          resolve(entries);
        },
      };
      const cancel = timing.after(Math.max(0, lookAgainAtMs - nowMs()), end);
      signal.addEventListener("abort", end, { once: true });
      waiters.add(waiter);
      for (const resolveCaughtUp of catchUps) resolveCaughtUp();
      if (signal.aborted) end();
    });
  }

  return {
    notify,

    notifyCapacity(endpointIds) {
      for (const ended of endedDuring) {
        for (const endpointId of endpointIds) ended.add(endpointId);
      }
      if ([...endpointIds].some((endpointId) => throttled.has(endpointId))) notify();
    },

    isThrottled: (endpointId) => throttled.has(endpointId),

    reserve() {
      const waiter = [...waiters].find(({ poller }) => poller.idle);
      if (waiter === undefined) return undefined;
      waiters.delete(waiter);
      return {
        leaseId: newId(),
        limit: waiter.poller.limit,
        slow: waiter.poller.slow,
        give(entries) {
          if (waiter.isOver) return false;
          const waitsOn = entries.length === 0 && lookAgainAtMs > 0;
          if (waitsOn) waiters.add(waiter);
          else waiter.wake(entries);
          return true;
        },
      };
    },

    caughtUp(milliseconds) {
      const isAbsent = nowMs() - lastClaimMs > ABSENT_AFTER_MS;
      if (waiters.size > 0 || isAbsent) return Promise.resolve();
      return new Promise((resolve) => {
        const end = () => {
          catchUps.delete(end);
          cancel();
          resolve();
        };
        const cancel = timing.after(milliseconds, end);
        catchUps.add(end);
      });
    },

    async claim(look, poller, signal) {
      while (!signal.aborted) {
        lastClaimMs = nowMs();
        if (nowMs() >= lookAgainAtMs) {
          // A commit during the look resets this time to zero, so that the poller looks again.
          lookAgainAtMs = nowMs() + SWEEP_MS;
          const { found, hasNewCapacity } = await lookOrReset(look);
          if (found.hasMore || hasNewCapacity) notify();
          if (found.entries.length > 0) return found.entries;
          continue;
        }
        const given = await wait(poller, signal);
        if (given.length > 0) return given;
      }
      return [];
    },
  };

  /**
   * Looks, and returns whether an endpoint that it found at its limit has had capacity since. After a failed look the
   * next poller looks at once.
   */
  async function lookOrReset(look: () => Promise<Look<Entry>>) {
    startedLooks += 1;
    const number = startedLooks;
    const ended = new Set<string>();
    endedDuring.add(ended);
    try {
      const found = await look();
      if (number > throttledBy) [throttled, throttledBy] = [found.throttled, number];
      return { found, hasNewCapacity: [...ended].some((id) => found.throttled.has(id)) };
    } catch (error) {
      lookAgainAtMs = 0;
      throw error;
    } finally {
      endedDuring.delete(ended);
    }
  }
}
