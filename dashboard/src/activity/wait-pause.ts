/** Delays before the page waits for a change again: after a wait, and after a failure. */
const NEXT_WAIT_MS = 100;
const AFTER_FAILURE_MS = 5_000;
/** A shorter wait without a change was refused: a stopping core answers waits at once. */
const MIN_WAIT_MS = 1_000;

/** The answer to a wait for a change of the feed. */
export type Waited = { readonly feedVersion: bigint; readonly waitedMs: number };

/**
 * Returns the delay before the page waits again for a version later than `shown`. It is long after a failure. It is
 * also long if the next answer would come at once: after a refused wait, or while the page still reads the later
 * version.
 */
export function waitPauseMs(shown: bigint, hasFailed: boolean, last: Waited | undefined): number {
  if (hasFailed) return AFTER_FAILURE_MS;
  if (last === undefined) return NEXT_WAIT_MS;
  const isFutile = last.feedVersion > shown || last.waitedMs < MIN_WAIT_MS;
  return isFutile ? AFTER_FAILURE_MS : NEXT_WAIT_MS;
}
