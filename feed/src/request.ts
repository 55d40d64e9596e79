import { attempt, type Get, type Outcome } from "./attempt.ts";
import type { Connection, WaitReason } from "./connection.ts";
import { FeedError } from "./feed-error.ts";
import { sleep } from "./sleep.ts";

/** The wait after 429 and 503 without `Retry-After`. §4.4.8 */
const DEFAULT_RETRY_AFTER_MS = 60_000;
/** The longest wait. A longer `Retry-After` counts as this. */
export const MAX_RETRY_AFTER_MS = 600_000;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 60_000;

export interface RequestRules {
  readonly signal?: AbortSignal | undefined;
  readonly onWait?: ((reason: WaitReason, ms: number) => unknown) | undefined;
  /** After this many failures in a row the request ends with `unavailable`. Default: never. */
  readonly maxFailures?: number;
}

type Answered<Body> = Extract<Outcome<Body>, { kind: "answered" }>;

/** Repeats a request until it is answered. The waits after failures follow §4.4.8. */
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
        { cause: outcome.cause },
      );
    }
    const ms = delayMs(outcome, failures, Math.random());
    const wakers = new Set<() => void>();
    try {
      await Promise.all([onWait?.(outcome.reason, ms), sleep(ms, signal, wakers)]);
    } finally {
      // Ends the sleep if the callback failed: its timer would keep the process alive.
      for (const wake of [...wakers]) wake();
    }
  }
}

/**
 * Returns the wait after a failed request, in milliseconds. `random` is from 0 to 1.
 * - With `Retry-After`: that time, at most ten minutes, and up to a tenth more. It is never shorter than the back-off.
 * - Without it, after 429 and 503: 60 seconds, and up to a tenth more.
 * - Without it, after other failures: the back-off of 1, 2, 4, … up to 60 seconds, or up to half of it less.
 */
export function delayMs(
  { reason, retryAfterMs }: Extract<Outcome<unknown>, { kind: "failed" }>,
  failures: number,
  random: number,
): number {
  const isRefusal = reason === "rate_limit_exceeded" || reason === "temporarily_unavailable";
  const waitMs = retryAfterMs ?? (isRefusal ? DEFAULT_RETRY_AFTER_MS : undefined);
  const ceiling = Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), MAX_BACK_OFF_MS);
  const backOffMs = ceiling * (1 - random / 2);
  if (waitMs === undefined) return backOffMs;
  return Math.max(backOffMs, Math.min(waitMs, MAX_RETRY_AFTER_MS) * (1 + random / 10));
}
