import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { deleteIdleWindows } from "./database-admission-store.ts";

const INTERVAL_MS = 30_000;
/** Maximum rows per statement, so that no lock is held for long. */
const CHUNK = 1_000;

/** Starts a job that deletes windows without recent admissions. Returns a function that stops it. */
export function startIdleWindowRemoval(pool: Pool, log: Log): () => void {
  return startPeriodicJob("removal of idle windows", INTERVAL_MS, log, async () => {
    while ((await deleteIdleWindows(pool, CHUNK)) === CHUNK);
  });
}
