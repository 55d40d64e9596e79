import type { Headers } from "../attempt.ts";
import type { ActivityPage } from "../contract.ts";

/** How often a follower that is caught up asks a service that does not wait. §4.4.2 */
const IDLE_MS = 5_000;
/** Half as often as the account's limit lets it. §8 */
const SPACING_MS = 1_000;
/** While more requests are left, they are made as soon as there is something to ask. */
const PLENTY = 60;
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

/** How long not to ask; `wakeMs` is what is left of it once something says that there is more. */
export interface Pause {
  readonly ms: number;
  readonly wakeMs: number;
}

/**
 * Returns the pause after an answer. None while there is more, after records, or when the service
 * has waited for some (`Preference-Applied: wait`); else five seconds, a tenth more or less. Requests
 * keep a second apart once half of the account's limit is used, and pause while nothing is left of it.
 */
export function pauseAfter({ page, headers, elapsedMs, random }: Polled): Pause {
  const [, remaining, resetSeconds] = RATE_LIMIT.exec(headers.get("ratelimit") ?? "") ?? [];
  if (remaining === "0") {
    const ms = Number(resetSeconds) * 1_000;
    return { ms, wakeMs: ms };
  }
  if (page.pagination.has_more) return { ms: 0, wakeMs: 0 };
  const wakeMs = Math.max(0, SPACING_MS - elapsedMs);
  if (page.data.length > 0) return { ms: Number(remaining) > PLENTY ? 0 : wakeMs, wakeMs };
  if (WAITED.test(headers.get("preference-applied") ?? "")) return { ms: wakeMs, wakeMs };
  return { ms: IDLE_MS * (0.9 + random / 5), wakeMs };
}
