import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { lockOverdue, makeDue } from "./orphaned-run-store.ts";
import { insertOutboxEntries, Task } from "./outbox-store.ts";

/**
 * An attempt that is this late is not merely waiting. 10,000 that are due at one moment are through
 * in minutes, and so is what an outage left.
 */
const OVERDUE_MICROS = 10 * 60_000_000;
/**
 * 40 a second: Temporal on one machine starts 100, and what it orphaned must not hold up what happens now.
 * 100,000 are back within 45 minutes.
 */
const INTERVAL_MS = 5_000;
const LIMIT = 200;

/** Starts looking for runs that Temporal has orphaned; returns how to stop it. */
export function startOrphanedRuns(pool: Pool, notify: () => void, log: Log): () => void {
  return startPeriodicJob("search for orphaned runs", INTERVAL_MS, log, async () => {
    const runs = await resumeOrphanedRuns(pool, OVERDUE_MICROS);
    if (runs === 0) return;
    log.info("overdue deliveries are resumed", { deliveries: runs });
    notify();
  });
}

/**
 * Puts some of the runs into the outbox again whose next attempt is overdue by `overdueMicros`, so that their
 * workflow is begun again; returns how many. Of one that Temporal has after all this changes nothing.
 */
export function resumeOrphanedRuns(pool: Pool, overdueMicros: number): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const runs = await lockOverdue(tx, overdueMicros, LIMIT);
    if (runs.length === 0) return 0;
    await insertOutboxEntries(
      tx,
      runs.map((run) => ({ ...run, task: Task.BeginRetries })),
    );
    // It is overdue again only when its workflow does not come either.
    await makeDue(tx, runs);
    return runs.length;
  });
}
