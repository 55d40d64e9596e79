import { attempt, type Get, type Outcome } from "./attempt.ts";
import type { Connection, WaitReason } from "./connection.ts";
import { FeedError } from "./feed-error.ts";
import { sleep } from "./sleep.ts";

/** What 429 and 503 mean without `Retry-After`. §4.4.8 */
const DEFAULT_RETRY_AFTER_MS = 60_000;
/** A service that says more is asked again after this. */
const MAX_RETRY_AFTER_MS = 600_000;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 60_000;

export interface RequestRules {
  readonly signal?: AbortSignal | undefined;
  readonly onWait?: ((reason: WaitReason, ms: number) => void) | undefined;
  /** How many failures in a row end it with a `FeedError` `unavailable`. Default: none. */
  readonly maxFailures?: number;
}

type Answered<Body> = Extract<Outcome<Body>, { kind: "answered" }>;

/** Makes a request until it is answered, waiting after each failure as §4.4.8 says. */
export async function request<Body>(
  connection: Connection,
  get: Get,
  { signal, onWait, maxFailures = Number.POSITIVE_INFINITY }: RequestRules,
): Promise<Answered<Body>> {
  for (let failures = 1; ; failures += 1) {
    const outcome = await attempt<Body>(connection, get, signal);
    if (outcome.kind === "answered") return outcome;
    if (failures >= maxFailures) {
      throw new FeedError(
        "unavailable",
        `${connection.baseUrl} failed ${failures} times, last with ${outcome.reason}. Check the ` +
          "network and baseUrl, or try again later.",
      );
    }
    const ms = delayMs(outcome, failures, Math.random());
    onWait?.(outcome.reason, ms);
    await sleep(ms, signal);
  }
}

/**
 * Returns the wait after a failed request. `Retry-After` is obeyed, up to ten minutes, and up to a
 * tenth more. Else 429 and 503 wait 60 seconds; other failures 1, 2, 4, … up to 60 seconds, of which
 * `random` from 0 to 1 takes up to half away.
 */
export function delayMs(
  { reason, retryAfterMs }: Extract<Outcome<unknown>, { kind: "failed" }>,
  failures: number,
  random: number,
): number {
  const isTold = reason === "rate_limit_exceeded" || reason === "temporarily_unavailable";
  const told = retryAfterMs ?? (isTold ? DEFAULT_RETRY_AFTER_MS : undefined);
  if (told !== undefined) return Math.min(told, MAX_RETRY_AFTER_MS) * (1 + random / 10);
  const ceiling = Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), MAX_BACK_OFF_MS);
  return ceiling * (1 - random / 2);
}
