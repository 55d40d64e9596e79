import type { GaugeFamily, Metrics } from "@activity/runtime/metrics";
import { microsOfId } from "../common/ids.ts";
import type { Pool } from "../database/pool.ts";
import { readBacklog } from "./backlog-store.ts";

const FAMILIES: readonly GaugeFamily[] = [
  {
    name: "activity_outbox_entries",
    help: "Entries of the outbox, leased ones included, of the first 10000.",
    labels: ["task"],
  },
  {
    name: "activity_outbox_oldest_seconds",
    help: "Age of the oldest event whose first attempt waits or is in flight; 0 when there is none.",
    labels: [],
  },
  {
    name: "activity_retries_overdue",
    help: "Retries that are due for more than a minute; 10000 stands for that many or more.",
    labels: [],
  },
  {
    name: "activity_retries_overdue_oldest_seconds",
    help: "For how long the retry is due that is overdue for longest; 0 when none is.",
    labels: [],
  },
];

/** Shows what waits to be delivered. While the database is away there are no such series, which is not 0. */
export function measureBacklog(metrics: Metrics, pool: Pool): void {
  metrics.gauges(FAMILIES, async () => {
    const { firstAttempts, beginRetries, oldestId, overdue, overdueSince, nowMicros } =
      await readBacklog(pool);
    const oldest = oldestId === undefined ? nowMicros : microsOfId(oldestId);
    return [
      [
        { labels: ["first_attempt"], value: firstAttempts },
        { labels: ["begin_retries"], value: beginRetries },
      ],
      [{ labels: [], value: secondsBetween(oldest, nowMicros) }],
      [{ labels: [], value: overdue }],
      [{ labels: [], value: secondsBetween(overdueSince ?? nowMicros, nowMicros) }],
    ];
  });
}

/** Never negative: a clock may have stepped back. */
function secondsBetween(fromMicros: number, toMicros: number): number {
  return Math.max(0, toMicros - fromMicros) / 1e6;
}
