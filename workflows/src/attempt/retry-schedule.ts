const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after failed attempts 1 to 7 of a run. §6.4 */
const RETRY_DELAYS_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];

/** The longest wait of an attempt that is rescheduled without being made. */
export const MAX_RESCHEDULE_MS = 15 * MINUTE_MS;

/** The most attempts of a run. §6.4 */
export const MAX_ATTEMPTS = RETRY_DELAYS_MS.length + 1;

/**
 * Returns the rest of the wait after a failed `attempt`, in whole milliseconds. Both times come from one clock. §6.4
 */
export function waitLeftMs(attempt: number, endedAtMs: number, nowMs: number): number {
  const delayMs = delayAfterMs(attempt) ?? 0;
  return Math.max(0, Math.min(delayMs, Math.ceil(endedAtMs + delayMs - nowMs)));
}

/**
 * Returns the wait until the retry after a failed `attempt`, in milliseconds. The retry may have been rescheduled, so
 * `storedMs`, the wait by the database's clock, can be longer than the schedule's. A step of the database's clock
 * shortens no wait. It lengthens a wait at most to the schedule's whole wait or to 15 minutes, whichever is longer.
 * §6.4
 */
export function retryInMs(
  attempt: number,
  endedAtMs: number,
  nowMs: number,
  storedMs: number,
): number {
  const longestMs = Math.max(delayAfterMs(attempt) ?? 0, MAX_RESCHEDULE_MS);
  return Math.max(Math.min(storedMs, longestMs), waitLeftMs(attempt, endedAtMs, nowMs));
}

/** Returns the wait after a failed `attempt` in milliseconds, or `undefined` after the last one allowed. */
export function delayAfterMs(attempt: number): number | undefined {
  return RETRY_DELAYS_MS[attempt - 1];
}
