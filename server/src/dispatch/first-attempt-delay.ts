import type { Metrics } from "@activity/runtime/metrics";
import { microsOfId } from "../common/ids.ts";
import type { MadeAttempt } from "./record-attempts.ts";

/**
 * The histogram's limits in seconds. They reach an hour, because a receiver that hangs delays its own later events, and
 * an outage delays all events.
 */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

/**
 * Returns a function that measures the delay of an event's first attempt. The delay begins with the event's
 * transaction, by the database's clock. It ends when the attempt starts, by the clock of the attempting process. Manual
 * retries are not measured. An attempt that a dispatcher records twice counts twice.
 */
export function measureFirstAttempts(metrics: Metrics): (attempt: MadeAttempt) => void {
  const observe = metrics.histogram(
    "activity_first_attempt_delay_seconds",
    "From the write of an event to the beginning of the first attempt of its delivery.",
    [],
    BUCKETS,
  );
  return ({ deliveryId, run, attempt, startedAt }) => {
    if (run !== 1 || attempt !== 1) return;
    observe(Math.max(0, Number(startedAt) - microsOfId(deliveryId)) / 1e6);
  };
}
