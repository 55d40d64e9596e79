/** An endpoint is slow while one of its attempts waits longer than this for its answer. */
const SLOW_AFTER_MS = 500;
/** A claim names at most this number of slow endpoints. The others count as quick. */
const MAX_SLOW = 64;

/** Attempts that were begun and not answered. */
export type AttemptsInMaking = {
  /** Adds an attempt. Returns a function that removes it. */
  begin(endpointId: string): () => void;
  /** Returns the slow endpoints, and the number of attempts at all others. */
  read(): { readonly quick: number; readonly slowEndpointIds: readonly string[] };
};

/** Creates an empty list of attempts that are being made. */
export function createAttemptsInMaking(nowMs: () => number): AttemptsInMaking {
  /** The attempts by endpoint, the oldest first. */
  const begun = new Map<string, Set<{ readonly sinceMs: number }>>();
  return {
    begin(endpointId) {
      const attempt = { sinceMs: nowMs() };
      const beside = begun.get(endpointId) ?? new Set();
      begun.set(endpointId, beside.add(attempt));
      return () => {
        beside.delete(attempt);
        if (beside.size === 0) begun.delete(endpointId);
      };
    },
    read() {
      const slowEndpointIds: string[] = [];
      let quick = 0;
      for (const [endpointId, attempts] of begun) {
        const [oldest] = attempts;
        const isSlow = oldest !== undefined && nowMs() - oldest.sinceMs > SLOW_AFTER_MS;
        if (isSlow && slowEndpointIds.length < MAX_SLOW) slowEndpointIds.push(endpointId);
        else quick += attempts.size;
      }
      return { quick, slowEndpointIds };
    },
  };
}
