import type { PostResult } from "./post-once.ts";
import type { RefusedTarget } from "./target-guard.ts";

/** How an attempt ended, as the owner sees it. ADR 0027 */
export const AttemptOutcome = {
  Delivered: "delivered",
  AuthRejected: "auth_rejected",
  RouteNotFound: "route_not_found",
  Redirected: "redirected",
  ReceiverBusy: "receiver_busy",
  Rejected: "rejected",
  DnsFailed: "dns_failed",
  Timeout: "timeout",
  NetworkError: "network_error",
  UnsafeTarget: "unsafe_target",
} as const;
export type AttemptOutcome = (typeof AttemptOutcome)[keyof typeof AttemptOutcome];

/** How an attempt can end. */
export type AttemptResult = PostResult | RefusedTarget;

const RETRIED: ReadonlySet<AttemptOutcome> = new Set([
  AttemptOutcome.ReceiverBusy,
  AttemptOutcome.DnsFailed,
  AttemptOutcome.Timeout,
  AttemptOutcome.NetworkError,
]);

const BUSY_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Names the outcome of an attempt's result. §6.4 */
export function outcomeOf(result: AttemptResult): AttemptOutcome {
  return result.kind === "answered" ? outcomeOfStatus(result.status) : result.kind;
}

/** Returns whether an outcome is retried, if attempts are left. §6.4 */
export function isRetried(outcome: AttemptOutcome): boolean {
  return RETRIED.has(outcome);
}

function outcomeOfStatus(status: number): AttemptOutcome {
  if (status >= 200 && status < 300) return AttemptOutcome.Delivered;
  if (status >= 300 && status < 400) return AttemptOutcome.Redirected;
  if (status === 401 || status === 403) return AttemptOutcome.AuthRejected;
  if (status === 404) return AttemptOutcome.RouteNotFound;
  if (BUSY_STATUSES.has(status)) return AttemptOutcome.ReceiverBusy;
  // The parser accepts 600 to 999 too. They are no server errors, so they count as rejected.
  if (status >= 500 && status < 600) return AttemptOutcome.ReceiverBusy;
  return AttemptOutcome.Rejected;
}
