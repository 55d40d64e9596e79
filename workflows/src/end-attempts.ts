import { type Timing, wait } from "@activity/runtime/timing";
import type { Recorder } from "./attempt/recorder.ts";

/**
 * The longest time from a stop to the end of its attempts in flight. The worker takes retries for five seconds more.
 * Each retry takes up to five seconds to load, and ten to make.
 */
const ATTEMPTS_END_WITHIN_MS = 20_000;
/** How long a stop then waits for made attempts to be recorded. */
const RECORD_WITHIN_MS = 5_000;

/** Closes the recorder when `ended` settles (no attempt is in flight), after 20 seconds at the latest. */
export async function endAttempts(
  ended: Promise<unknown>,
  recorder: Pick<Recorder, "close">,
  timing: Timing,
): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  // The caller handles a failure of `ended`, after this function returns.
  ended.then(end, end);
  // The wait has a limit: while the core is away, `ended` waits until attempts are recorded.
  await wait(timing, ATTEMPTS_END_WITHIN_MS, over.signal);
  await recorder.close(RECORD_WITHIN_MS);
}
