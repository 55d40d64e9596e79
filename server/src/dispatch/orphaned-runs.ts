import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { DispatchStore } from "./dispatch-store.ts";

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
export function startOrphanedRuns(store: DispatchStore, notify: () => void, log: Log): () => void {
  return startPeriodicJob("search for orphaned runs", INTERVAL_MS, log, () =>
    resumeOrphanedRuns(store, notify, log),
  );
}

/**
 * Puts some runs whose next attempt is long overdue into the outbox again, so that their workflow is begun again. A
 * run whose workflow Temporal still has is not changed. A run is overdue again only when this workflow does not come
 * either.
 */
export async function resumeOrphanedRuns(
  store: DispatchStore,
  notify: () => void,
  log: Log,
): Promise<void> {
  const runs = await store.resumeOverdue(OVERDUE_MICROS, LIMIT);
  if (runs === 0) return;
  log.info("overdue deliveries are resumed", { deliveries: runs });
  notify();
}
