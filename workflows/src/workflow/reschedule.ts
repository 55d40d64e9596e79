import { MAX_RESCHEDULE_MS } from "../attempt/retry-schedule.ts";

const FIRST_WAIT_MS = 20_000;

/**
 * Returns the wait in milliseconds before a workflow asks for its attempt again, after `times` failures. It is 10 to 20
 * seconds after the first, and doubles up to 15 minutes. `random`, from 0 to 1, spreads workflows that failed together.
 */
export function rescheduleAfterMs(times: number, random: number): number {
  const longest = Math.min(MAX_RESCHEDULE_MS, FIRST_WAIT_MS * 2 ** (times - 1));
  return Math.round(longest * (0.5 + random / 2));
}

/**
 * Returns the wait in milliseconds before a workflow records its made attempt again: always 5 to 10 seconds. It does
 * not grow, so a run continues soon after the core can write again. If the database still serves reads, retries are
 * made meanwhile, and more and more workflows wait.
 */
export function recordAgainAfterMs(random: number): number {
  return Math.round(5_000 * (1 + random));
}
