/** An endpoint with an attempt that is not answered after this is slow. */
const SLOW_AFTER_MS = 500;
/** With more slow endpoints than this, those beyond count as quick: so much is told the core with each claim. */
const MAX_SLOW = 64;

/** The attempts that are being made. */
export type AttemptsInMaking = {
  /** Adds one; returns what removes it. */
  begin(endpointId: string): () => void;
  /** Tells the slow endpoints, and how many attempts of the others are being made. */
  read(): { readonly quick: number; readonly slowEndpointIds: readonly string[] };
};

/** Creates a list of attempts that are being made. */
export function createAttemptsInMaking(nowMs: () => number): AttemptsInMaking {
  /** By endpoint, when each was begun, the oldest first. */
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
