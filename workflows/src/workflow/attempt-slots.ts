/** The slots of one worker for retries. */
export type AttemptSlots = {
  /** Takes a slot for an attempt at an endpoint; returns what gives it back, or `undefined` when none is free. */
  take(endpointId: string): (() => void) | undefined;
};

/**
 * Creates slots, all free: `perEndpoint` for each, so that one that hangs leaves some to the others, and
 * `total` in all.
 */
export function createAttemptSlots({
  perEndpoint,
  total,
}: {
  readonly perEndpoint: number;
  readonly total: number;
}): AttemptSlots {
  const inFlight = new Map<string, number>();
  let totalInFlight = 0;

  const add = (endpointId: string, change: number) => {
    const count = (inFlight.get(endpointId) ?? 0) + change;
    totalInFlight += change;
    if (count > 0) inFlight.set(endpointId, count);
    else inFlight.delete(endpointId);
  };
  return {
    take(endpointId) {
      const count = inFlight.get(endpointId) ?? 0;
      if (count >= perEndpoint || totalInFlight >= total) return undefined;
      add(endpointId, 1);
      return () => add(endpointId, -1);
    },
  };
}
