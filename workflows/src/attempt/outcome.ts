import { AttemptOutcome as Outcome } from "@activity/proto";
import { AttemptOutcome } from "../http/attempt-outcome.ts";

const TO_PROTO = {
  [AttemptOutcome.Delivered]: Outcome.DELIVERED,
  [AttemptOutcome.AuthRejected]: Outcome.AUTH_REJECTED,
  [AttemptOutcome.RouteNotFound]: Outcome.ROUTE_NOT_FOUND,
  [AttemptOutcome.Redirected]: Outcome.REDIRECTED,
  [AttemptOutcome.ReceiverBusy]: Outcome.RECEIVER_BUSY,
  [AttemptOutcome.Rejected]: Outcome.REJECTED,
  [AttemptOutcome.DnsFailed]: Outcome.DNS_FAILED,
  [AttemptOutcome.Timeout]: Outcome.TIMEOUT,
  [AttemptOutcome.NetworkError]: Outcome.NETWORK_ERROR,
  [AttemptOutcome.UnsafeTarget]: Outcome.UNSAFE_TARGET,
} satisfies Record<AttemptOutcome, Outcome>;

const FROM_PROTO: ReadonlyMap<Outcome, AttemptOutcome> = new Map(
  Object.values(AttemptOutcome).map((outcome) => [TO_PROTO[outcome], outcome]),
);

/**
 * Converts an outcome for the core. A workflow's history may hold a newer version's outcome. That outcome becomes
 * unspecified, which only a `PastAttempt` may have. This throws no error, because an error would stop this process's
 * claims of first attempts.
 */
export function outcomeToProto(outcome: AttemptOutcome): Outcome {
  return TO_PROTO[outcome] ?? Outcome.UNSPECIFIED;
}

/**
 * Converts an outcome of the core. Returns `undefined` for one that only a newer version knows. If this threw, no
 * worker of this version could continue the run. ADR 0044
 */
export function outcomeFromProto(outcome: Outcome): AttemptOutcome | undefined {
  return FROM_PROTO.get(outcome);
}
