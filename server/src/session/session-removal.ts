import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { deleteExpired, EXPIRING_TABLES } from "./session-store.ts";

const INTERVAL_MS = 60_000;
/** Maximum rows per statement, so that no lock is held for long. */
const CHUNK = 1_000;

/** Starts the job that removes expired links and sessions. Returns a function that stops it. */
export function startSessionRemoval(pool: Pool, log: Log): () => void {
  return startPeriodicJob("removal of expired sessions", INTERVAL_MS, log, () =>
    removeExpiredSessions(pool),
  );
}

/** Removes the expired links and sessions. */
export async function removeExpiredSessions(pool: Pool): Promise<void> {
  for (const table of EXPIRING_TABLES) {
    while ((await deleteExpired(pool, table, CHUNK)) === CHUNK);
  }
}
