import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { deleteExpired, EXPIRING_TABLES } from "./session-store.ts";

const INTERVAL_MS = 60_000;
/** Rows a statement deletes at most, so that it holds no lock for long. */
const CHUNK = 1_000;

/** Starts removing links and sessions that have expired; returns how to stop it. */
export function startSessionRemoval(pool: Pool, log: Log): () => void {
  return startPeriodicJob("removal of expired sessions", INTERVAL_MS, log, () =>
    removeExpiredSessions(pool),
  );
}

/** Removes the links and sessions that have expired. */
export async function removeExpiredSessions(pool: Pool): Promise<void> {
  for (const table of EXPIRING_TABLES) {
    while ((await deleteExpired(pool, table, CHUNK)) === CHUNK);
  }
}
