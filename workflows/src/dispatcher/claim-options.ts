import { durationFromMs } from "@bufbuild/protobuf/wkt";

/** The sweep: what no notification told of waits no longer than this. §6.4 */
const SWEEP_MS = 5_000;
/** A call that the core has not answered by then is taken for lost. */
const ANSWER_WITHIN_MS = 35_000;

/** How long a claim waits for something to claim. */
export const CLAIM_WAIT = durationFromMs(SWEEP_MS);

/** The options of a claim that ends with `signal`. */
export function claimOptions(signal: AbortSignal) {
  return { signal, timeoutMs: SWEEP_MS + ANSWER_WITHIN_MS };
}
