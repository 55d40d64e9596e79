import type { Headers } from "../attempt.ts";
import type { ActivityPage } from "../contract.ts";
import { MAX_RETRY_AFTER_MS } from "../request.ts";

/** The pause after an empty page of a service that does not wait. §4.4.2 */
const IDLE_MS = 5_000;
/** The time between requests when half of the account's limit is left. The limit allows twice this rate. §8 */
const SPACING_MS = 1_000;
/**
 * The longest time between requests, even if almost none of the limit is left, because more of it may become free soon.
 */
const MAX_SPACING_MS = 6_000;
/** While the limit leaves more requests than this, they need no time between them. */
const PLENTY = 60;
/** While more pages follow, this many requests are left to the account's other tools. */
const RESERVE = 20;
const RATE_LIMIT = /(?:^|;)r=(\d+);t=(\d+)/;
const WAITED = /(?:^|,)\s*wait\b/i;

/** An answer and how long it took. */
export interface Polled {
  readonly page: ActivityPage;
  readonly headers: Headers;
  readonly elapsedMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** The pause before the next request, and the shorter one if `wake()` is called. */
export interface Pause {
  readonly ms: number;
  readonly wakeMs: number;
}

/**
 * Returns the pause after an answer. The first rule that fits decides:
 * - No request is left, or at most 20 while more pages follow: a pause until the limit leaves more, at most ten
 *   minutes.
 * - More pages follow, or records came and over half of the limit is left: no pause.
 * - Records came, or the service waited for them (`Preference-Applied: wait`): requests are 1 to 6 seconds apart.
 * - Any other empty page: five seconds, a tenth more or less.
 */
export function pauseAfter({ page, headers, elapsedMs, random }: Polled): Pause {
  const [, r, resetSeconds] = RATE_LIMIT.exec(headers.get("ratelimit") ?? "") ?? [];
  const remaining = r === undefined ? PLENTY : Number(r);
  const { has_more: hasMore } = page.pagination;
  if (remaining <= (hasMore ? RESERVE : 0)) {
    const ms = Math.min(Number(resetSeconds) * 1_000, MAX_RETRY_AFTER_MS);
    return { ms, wakeMs: ms };
  }
  if (hasMore) return { ms: 0, wakeMs: 0 };
  const spacingMs = Math.min(
    Math.max(SPACING_MS, (SPACING_MS * PLENTY) / remaining),
    MAX_SPACING_MS,
  );
  const wakeMs = Math.max(0, spacingMs - elapsedMs);
  if (page.data.length > 0) return { ms: remaining > PLENTY ? 0 : wakeMs, wakeMs };
  if (WAITED.test(headers.get("preference-applied") ?? "")) return { ms: wakeMs, wakeMs };
  const ms = IDLE_MS * (0.9 + random / 5);
  return { ms, wakeMs: Math.min(wakeMs, ms) };
}
