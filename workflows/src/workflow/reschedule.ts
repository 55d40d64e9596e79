const FIRST_WAIT_MS = 20_000;
const MAX_WAIT_MS = 15 * 60_000;

/**
 * Returns how long to wait, in milliseconds, before something is asked for again that was not possible
 * `times` times: 10 to 20 seconds after the first, each time twice as long, up to 15 minutes. `random`, from 0
 * to 1, spreads those that were refused at one moment.
 */
export function rescheduleAfterMs(times: number, random: number): number {
  const longest = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (times - 1));
  return Math.round(longest * (0.5 + random / 2));
}

/**
 * Returns how long to wait, in milliseconds, before an attempt that was made is offered to the core again: 5 to
 * 10 seconds, however often it was. There are never more of them than attempts in flight when the core went away.
 */
export function recordAgainAfterMs(random: number): number {
  return Math.round(5_000 * (1 + random));
}
