/** The slots of one worker for retries. */
export type AttemptSlots = {
  /** Takes a slot for an attempt at an endpoint, or tells when its turn comes. */
  take(endpointId: string): Slot | Turn;
};

/** A slot that was taken; `giveBack` is called once, when the attempt has ended. */
export type Slot = { readonly giveBack: () => void };
/** No slot is free: ask again in `waitMs` milliseconds. */
export type Turn = { readonly waitMs: number };

/** What an endpoint, or all of them together, have in flight, and who waits. */
type Use = {
  inFlight: number;
  /** How long its attempts take, in milliseconds; later ones count more. */
  meanMs: number;
  /** When the last of those that wait has its turn. */
  lastTurnMs: number;
};

/** The slots of a worker's retries. */
export const RETRY_SLOTS = { perEndpoint: 16, total: 400 };

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15 * 60_000;
/** How long attempts are taken to last at an endpoint that had none yet. */
const ASSUMED_MS = 1_000;
const WEIGHT_OF_LATEST = 0.3;
/** Steps of this length, taken modulo 1, fall evenly into the interval. */
const GOLDEN_RATIO = 0.618_034;

/**
 * Creates slots, all free: `total` in all, and at most `perEndpoint` of them for an endpoint. The
 * more are taken, the fewer an endpoint may have, so a slot is left for a newcomer. Two endpoints
 * that hang have 14 of 400 each, twenty-five have 4. Turns come as fast as that endpoint's slots
 * are given back, so thousands that wait do not all ask again at once. `nowMs` is a clock that
 * never steps.
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

  /** Gives the next turn, behind all that wait already. */
  function turnOf(use: Use, slots: number): Turn {
    const now = nowMs();
    const next = Math.max(use.lastTurnMs, now) + use.meanMs / slots;
    if (next > now + MAX_WAIT_MS) return { waitMs: spreadWait() };
    use.lastTurnMs = next;
    return { waitMs: Math.round(Math.max(MIN_WAIT_MS, next - now)) };
  }

  /** Those that come behind the longest wait ask again in its second half, and not all at once. */
  function spreadWait(): number {
    spread = (spread + GOLDEN_RATIO) % 1;
    return Math.round(MAX_WAIT_MS * (1 - spread / 2));
  }

  return { take };
}

function newUse(): Use {
  return { inFlight: 0, meanMs: ASSUMED_MS, lastTurnMs: Number.NEGATIVE_INFINITY };
}
