import type { Timing } from "@activity/runtime/timing";
import { newId } from "../common/ids.ts";

/** How often what no notification told of is looked for: what another instance committed, for one. §6.4 */
const SWEEP_MS = 5_000;

/** A poller with capacity claims again within this time. */
const ABSENT_AFTER_MS = 1_000;

/** A poller that waits, while a transaction writes what may be leased to it. */
export type Reservation<Entry> = {
  readonly leaseId: string;
  /** How many entries it takes at most. */
  readonly limit: number;
  /** Endpoints that it takes nothing of. */
  readonly slow: ReadonlySet<string>;
  /**
   * Gives it what was committed, or nothing. Returns false when its wait has ended: then nobody heard of
   * `entries`.
   */
  give(entries: readonly Entry[]): boolean;
};

/** The pollers of this process that found nothing to claim, and what wakes them. */
export type PollerQueue<Entry> = {
  /** Tells that there may be something to claim: who has waited longest looks. Called after a commit. */
  notify(): void;
  /** Tells of which endpoints something in flight ended: wakes who waits if the last look left entries of one. */
  notifyCapacity(endpointIds: ReadonlySet<string>): void;
  /** Takes the poller that has waited longest of those that are idle, if there is one, until it is given. */
  reserve(): Reservation<Entry> | undefined;
  /** Whether the last look left entries of an endpoint: what is written now comes behind them. */
  isThrottled(endpointId: string): boolean;
  /**
   * Resolves once a poller waits, for it has taken all that there was, or after `milliseconds`; at once while
   * nobody claims.
   */
  caughtUp(milliseconds: number): Promise<void>;
  /**
   * Claims by `look`, and while that finds nothing waits until there may be something, until `signal` is
   * aborted. Nobody looks again while nothing was committed since somebody found nothing, but for the sweep.
   */
  claim(
    look: () => Promise<Look<Entry>>,
    poller: Poller,
    signal: AbortSignal,
  ): Promise<readonly Entry[]>;
};

/** What a look found. */
export type Look<Entry> = {
  readonly entries: readonly Entry[];
  /** The endpoints that it left some entries of, because they have enough in flight. */
  readonly throttled: ReadonlySet<string>;
  /** Whether there may be more than it looked at. Never when it found nothing. */
  readonly hasMore: boolean;
};

/** Who claims. */
export type Poller = {
  readonly limit: number;
  /** Whether something may be leased to it that it did not look for. */
  readonly idle: boolean;
  /** Endpoints of which nothing may. */
  readonly slow: ReadonlySet<string>;
};

type Waiter<Entry> = {
  readonly poller: Poller;
  readonly wake: (entries: readonly Entry[]) => void;
  isOver: boolean;
};

/** Creates a queue in which nobody waits. */
export function createPollerQueue<Entry>(timing: Timing): PollerQueue<Entry> {
  const { nowMs } = timing;
  const waiters = new Set<Waiter<Entry>>();
  const behind = new Set<() => void>();
  let lookAgainAtMs = 0;
  let lastClaimMs = Number.NEGATIVE_INFINITY;
  let throttled: ReadonlySet<string> = new Set();

  function notify(): void {
    lookAgainAtMs = 0;
    const [longest] = waiters;
    longest?.wake([]);
  }

  function wait(poller: Poller, signal: AbortSignal): Promise<readonly Entry[]> {
    return new Promise((resolve) => {
      // A reserved one ends too: a commit may hang for longer than its caller waits.
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
      for (const resolveCaughtUp of behind) resolveCaughtUp();
      if (signal.aborted) end();
    });
  }

  return {
    notify,

    notifyCapacity(endpointIds) {
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
          const goesOn = entries.length === 0 && lookAgainAtMs > 0;
          if (goesOn) waiters.add(waiter);
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
          behind.delete(end);
          cancel();
          resolve();
        };
        const cancel = timing.after(milliseconds, end);
        behind.add(end);
      });
    },

    async claim(look, poller, signal) {
      while (!signal.aborted) {
        lastClaimMs = nowMs();
        if (nowMs() >= lookAgainAtMs) {
          // What is committed while it looks sets this to zero, and it looks again.
          lookAgainAtMs = nowMs() + SWEEP_MS;
          const found = await lookOrForget(look);
          throttled = found.throttled;
          if (found.hasMore) notify();
          if (found.entries.length > 0) return found.entries;
          continue;
        }
        const given = await wait(poller, signal);
        if (given.length > 0) return given;
      }
      return [];
    },
  };

  /** A look that failed saw nothing: the next one is not left out. */
  async function lookOrForget(look: () => Promise<Look<Entry>>): Promise<Look<Entry>> {
    try {
      return await look();
    } catch (error) {
      lookAgainAtMs = 0;
      throw error;
    }
  }
}
