import { MAX_RESCHEDULE_MS } from "../attempt/retry-schedule.ts";

/** A worker's slots for retries. */
export type AttemptSlots = {
  /** Takes a slot for an attempt at an endpoint, or returns the wait for one. */
  take(endpointId: string): Slot | Turn;
};

/** A taken slot. Its owner calls `giveBack` once, when the attempt has ended. */
export type Slot = { readonly giveBack: () => void };
/** No slot is free. The caller asks again in `waitMs` milliseconds. */
export type Turn = { readonly waitMs: number };

/** The slots in use and the turns given, of one endpoint or of all together. */
type Use = {
  inFlight: number;
  /** The moving average of attempts' durations, in milliseconds. Later attempts weigh more. */
  meanMs: number;
  /** The time of the last turn that was given. */
  lastTurnMs: number;
};
/** The use of one endpoint. `commonTurnMs` is its last turn among all endpoints. */
type EndpointUse = Use & { commonTurnMs: number };

/** How many slots a worker has. */
export const RETRY_SLOTS = { perEndpoint: 16, total: 400 };

const MIN_WAIT_MS = 1_000;
/** The longest duration that is assumed for the first attempts at an endpoint. */
const ASSUMED_MS = 1_000;
const WEIGHT_OF_LATEST = 0.3;
const NEVER_MS = Number.NEGATIVE_INFINITY;
/** Multiples of this number, modulo 1, spread evenly from 0 to 1. */
const GOLDEN_RATIO = 0.618_034;

/**
 * Creates `total` free slots, at most `perEndpoint` of them for one endpoint. The more slots are taken, the fewer an
 * endpoint may have. A new endpoint therefore finds a free slot. Two endpoints that hang have 14 of 400 each,
 * twenty-five have 4.
 *
 * At its turn a waiting attempt asks again. An endpoint's turns come as fast as its slots become free, so thousands of
 * attempts do not ask at the same time. While all slots are taken, an endpoint has one turn among all endpoints. Its
 * other attempts have their turns after that one. `nowMs` is a monotonic clock.
 */
export function createAttemptSlots({
  perEndpoint,
  total,
  nowMs,
}: {
  readonly perEndpoint: number;
  readonly total: number;
  readonly nowMs: () => number;
}): AttemptSlots {
  const all = newUse();
  /** The known endpoints, in the order in which they last got a slot or a common turn, the latest at the end. */
  const endpoints = new Map<string, EndpointUse>();
  let spread = 0;

  function take(endpointId: string): Slot | Turn {
    forgetUnused();
    const endpoint = endpoints.get(endpointId) ?? firstUse();
    const share = Math.max(1, Math.min(perEndpoint, Math.floor(total / Math.max(1, all.inFlight))));
    if (endpoint.inFlight >= share) return turnOf(endpoint, share);
    const begunMs = nowMs();
    const isFull = all.inFlight >= total;
    if (isFull && endpoint.commonTurnMs > begunMs) return turnOf(endpoint, share);
    endpoints.delete(endpointId);
    endpoints.set(endpointId, endpoint);
    if (isFull) {
      const turn = turnOf(all, total);
      endpoint.commonTurnMs = begunMs + turn.waitMs;
      endpoint.lastTurnMs = Math.max(endpoint.lastTurnMs, endpoint.commonTurnMs);
      return turn;
    }
    for (const use of [endpoint, all]) use.inFlight += 1;
    return {
      giveBack() {
        for (const use of [endpoint, all]) {
          use.inFlight -= 1;
          use.meanMs += WEIGHT_OF_LATEST * (nowMs() - begunMs - use.meanMs);
        }
        if (isUnused(endpoint)) endpoints.delete(endpointId);
      },
    };
  }

  /**
   * Returns the use of a new endpoint. It assumes the mean duration of all endpoints, at most a second: with a longer
   * one, the turns of a quick endpoint would be far apart.
   */
  function firstUse(): EndpointUse {
    return { ...newUse(), meanMs: Math.min(ASSUMED_MS, all.meanMs), commonTurnMs: NEVER_MS };
  }

  /** Forgets endpoints at the front whose turns are past: their waiting attempts may never ask again. */
  function forgetUnused(): void {
    for (const [endpointId, endpoint] of endpoints) {
      if (!isUnused(endpoint)) return;
      endpoints.delete(endpointId);
    }
  }

  function isUnused({ inFlight, lastTurnMs }: EndpointUse): boolean {
    return inFlight === 0 && lastTurnMs <= nowMs();
  }

  /** Returns the next turn, after all turns that were given. */
  function turnOf(use: Use, slots: number): Turn {
    const now = nowMs();
    const next = Math.max(use.lastTurnMs, now) + use.meanMs / slots;
    if (next > now + MAX_RESCHEDULE_MS) return { waitMs: spreadWait() };
    use.lastTurnMs = next;
    return { waitMs: Math.round(Math.max(MIN_WAIT_MS, next - now)) };
  }

  /**
   * Returns a wait from half to all of the longest one: attempts beyond the last turn must not all ask again at the
   * same time.
   */
  function spreadWait(): number {
    spread = (spread + GOLDEN_RATIO) % 1;
    return Math.round(MAX_RESCHEDULE_MS * (1 - spread / 2));
  }

  return { take };
}

function newUse(): Use {
  return { inFlight: 0, meanMs: ASSUMED_MS, lastTurnMs: NEVER_MS };
}
