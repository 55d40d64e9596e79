const FIRST_WAIT_MS = 60_000;
/** Spread over as much again, so that the longest wait is an hour. */
const LONGEST_WAIT_MS = 30 * 60_000;

/**
 * Returns how long an attempt waits that the core could not load `failedLoads` times, in milliseconds: one to
 * two minutes after the first, each time twice as long, half an hour to an hour at last. `random`, from 0 to 1,
 * spreads those that failed at one moment, for all that lack one key do.
 */
export function loadWaitMs(failedLoads: number, random: number): number {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failedLoads - 1));
  return Math.round(wait * (1 + random));
}
