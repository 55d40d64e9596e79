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
  /** The turn of the last waiting attempt. */
  lastTurnMs: number;
};

/** How many slots a worker has. */
export const RETRY_SLOTS = { perEndpoint: 16, total: 400 };

const MIN_WAIT_MS = 1_000;
/** The assumed duration of attempts at an endpoint that had none yet. */
const ASSUMED_MS = 1_000;
const WEIGHT_OF_LATEST = 0.3;
/** Multiples of this number, modulo 1, spread evenly from 0 to 1. */
const GOLDEN_RATIO = 0.618_034;

/**
 * Creates `total` free slots, at most `perEndpoint` of them for one endpoint. The more slots are taken, the fewer an
 * endpoint may have. A new endpoint therefore finds a free slot. Two endpoints that hang have 14 of 400 each,
 * twenty-five have 4.
 *
 * At its turn a waiting attempt asks again. An endpoint's turns are as far apart as its slots become free, so thousands
 * of attempts do not ask at the same time. `nowMs` is a monotonic clock.
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
  const endpoints = new Map<string, Use>();
  let spread = 0;

  function take(endpointId: string): Slot | Turn {
    const endpoint = endpoints.get(endpointId) ?? newUse();
    const share = Math.max(1, Math.min(perEndpoint, Math.floor(total / Math.max(1, all.inFlight))));
    if (endpoint.inFlight >= share) return turnOf(endpoint, share);
    if (all.inFlight >= total) return turnOf(all, total);
    const begunMs = nowMs();
    endpoints.set(endpointId, endpoint);
    for (const use of [endpoint, all]) use.inFlight += 1;
    return {
      giveBack() {
        for (const use of [endpoint, all]) {
          use.inFlight -= 1;
          use.meanMs += WEIGHT_OF_LATEST * (nowMs() - begunMs - use.meanMs);
        }
        if (endpoint.inFlight === 0 && endpoint.lastTurnMs <= nowMs()) endpoints.delete(endpointId);
      },
    };
  }

  /** Returns the next turn, after all that were given. */
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
  return { inFlight: 0, meanMs: ASSUMED_MS, lastTurnMs: Number.NEGATIVE_INFINITY };
}
