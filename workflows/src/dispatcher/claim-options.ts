import { durationFromMs } from "@bufbuild/protobuf/wkt";

/** The longest that an entry waits when its notification is lost. §6.4 */
const SWEEP_MS = 5_000;
/** How long after `SWEEP_MS` the core may still answer. After that, the claim fails. */
const ANSWER_WITHIN_MS = 35_000;

/** How long a claim waits for an entry. */
export const CLAIM_WAIT = durationFromMs(SWEEP_MS);

/** The options of a claim that ends with `signal`. */
export function claimOptions(signal: AbortSignal) {
  return { signal, timeoutMs: SWEEP_MS + ANSWER_WITHIN_MS };
}
