import type { Metrics } from "@activity/runtime/metrics";
import { microsOfId } from "../common/ids.ts";
import type { MadeAttempt } from "./record-attempts.ts";

/** A receiver that hangs delays its own further events; Temporal and outages delay by minutes. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

/**
 * Returns what notes how long after its event's transaction a first attempt began, by the clock of the
 * database and that of the process that made the attempt. A manual retry is no first attempt.
 */
export function measureFirstAttempts(metrics: Metrics): (attempt: MadeAttempt) => void {
  const note = metrics.histogram(
    "activity_first_attempt_delay_seconds",
    "From the write of an event to the beginning of the first attempt of its delivery.",
    [],
    BUCKETS,
  );
  return ({ deliveryId, run, attempt, startedAt }) => {
    if (run !== 1 || attempt !== 1) return;
    note(Math.max(0, Number(startedAt) - microsOfId(deliveryId)) / 1e6);
  };
}
