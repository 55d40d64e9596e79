import { callBack } from "./call-back.ts";
import type { Connection } from "./connection.ts";
import type { Me } from "./contract.ts";
import { request } from "./request.ts";

const DAY_MS = 86_400_000;
const WARNED_DAYS = 14;

/** Returns the days until a key ends, rounded up, if they are 14 or fewer; otherwise undefined. */
export function daysLeft(expiresAt: string, nowMs: number): number | undefined {
  const days = Math.ceil((Date.parse(expiresAt) - nowMs) / DAY_MS);
  return days <= WARNED_DAYS ? Math.max(0, days) : undefined;
}

/**
 * Returns a function to call again and again. At its first call, and then once a day, it reads the key's end. If 14
 * days or fewer are left, it calls `onKeyEnding`. The signal aborts its requests.
 */
export function createKeyCheck(
  connection: Connection,
  onKeyEnding: ((days: number) => unknown) | undefined,
  signal: AbortSignal,
): () => void {
  let lastMs = 0;
  return () => {
    // `Math.abs` is for a clock that has stepped back since the last check.
    if (onKeyEnding === undefined || Math.abs(Date.now() - lastMs) < DAY_MS) return;
    lastMs = Date.now();
    // The request is not awaited, because the feed must not wait for it. Failures are ignored, because a refused key
    // ends the feed anyway.
    request<{ data: Me }>(connection, { path: "/me" }, { signal })
      .then(({ body }) => {
        const days = daysLeft(body.data.key.expires_at, Date.now());
        if (days !== undefined) void callBack("onKeyEnding", () => onKeyEnding(days));
      })
      .catch(() => {});
  };
}
