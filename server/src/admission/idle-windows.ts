import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { deleteIdleWindows } from "./database-admission-store.ts";

const INTERVAL_MS = 30_000;
/** Rows a statement deletes at most, so that it holds no lock for long. */
const CHUNK = 1_000;

/** Starts removing the windows of clients and accounts that went quiet; returns how to stop it. */
export function startIdleWindowRemoval(pool: Pool, log: Log): () => void {
  return startPeriodicJob("removal of idle windows", INTERVAL_MS, log, async () => {
    while ((await deleteIdleWindows(pool, CHUNK)) === CHUNK);
  });
}
