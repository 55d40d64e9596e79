import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { DispatchStore } from "./dispatch-store.ts";

/**
 * A run whose next attempt is overdue by more than this counts as orphaned. Workers need only minutes for 10,000
 * attempts that are due at once, or for the backlog of an outage.
 */
const OVERDUE_MICROS = 10 * 60_000_000;
/**
 * Each core resumes 40 runs a second, and so 100,000 within 45 minutes. Temporal on one machine starts 100 a second, so
 * the runs that one core resumes do not delay current runs. Three cores or more can take all of that capacity.
 */
const INTERVAL_MS = 5_000;
const LIMIT = 200;

/** Starts the periodic search for orphaned runs. Returns a function that stops it. */
export function startOrphanedRuns(store: DispatchStore, notify: () => void, log: Log): () => void {
  return startPeriodicJob("search for orphaned runs", INTERVAL_MS, log, () =>
    resumeOrphanedRuns(store, notify, log),
  );
}

/**
 * Puts at most `LIMIT` runs whose next attempt is long overdue into the outbox, to begin their workflows again. If
 * Temporal still has a run's workflow, nothing changes. A run is overdue again only if its new workflow makes no
 * attempt either.
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
