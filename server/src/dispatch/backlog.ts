import type { GaugeFamily, Metrics } from "@activity/runtime/metrics";
import { microsOfId } from "../common/ids.ts";
import type { Pool } from "../database/pool.ts";
import { MAX_ROWS, readBacklog } from "./backlog-store.ts";

const FAMILIES: readonly GaugeFamily[] = [
  {
    name: "activity_outbox_entries",
    help: "Outbox entries, leased ones included; at most 10000 are counted.",
    labels: ["task"],
  },
  {
    name: "activity_outbox_oldest_seconds",
    help: "Age of the oldest counted event whose first attempt waits or is in flight; 0 when there is none. When 10000 entries are counted, another may be older; absent when all of these are manual retries.",
    labels: [],
  },
  {
    name: "activity_retries_overdue",
    help: "Retries that are overdue by more than a minute; 10000 means 10000 or more.",
    labels: [],
  },
  {
    name: "activity_retries_overdue_oldest_seconds",
    help: "Time since the longest overdue retry was due; 0 when none is overdue.",
    labels: [],
  },
];

/** Registers the backlog's gauges. While the database is unavailable they have no value, instead of 0. */
export function measureBacklog(metrics: Metrics, pool: Pool): void {
  metrics.gauges(FAMILIES, async () => {
    const { firstAttempts, beginRetries, oldestId, overdue, overdueSince, nowMicros } =
      await readBacklog(pool);
    const oldest = oldestId === undefined ? nowMicros : microsOfId(oldestId);
    const isHidden = oldestId === undefined && firstAttempts >= MAX_ROWS;
    return [
      [
        { labels: ["first_attempt"], value: firstAttempts },
        { labels: ["begin_retries"], value: beginRetries },
      ],
      isHidden ? [] : [{ labels: [], value: secondsBetween(oldest, nowMicros) }],
      [{ labels: [], value: overdue }],
      [{ labels: [], value: secondsBetween(overdueSince ?? nowMicros, nowMicros) }],
    ];
  });
}

/** Returns 0, not a negative number, after a clock has stepped back. */
function secondsBetween(fromMicros: number, toMicros: number): number {
  return Math.max(0, toMicros - fromMicros) / 1e6;
}
