import { isOutage } from "../database/outage.ts";
import type { Pool } from "../database/pool.ts";
import type { Log } from "../log.ts";
import { deleteIdleWindows } from "./database-admission-store.ts";

const INTERVAL_MS = 30_000;
/** Rows a statement deletes at most, so that it holds no lock for long. */
const CHUNK = 1_000;

/** Starts removing the windows of clients and accounts that went quiet; returns how to stop it. */
export function startIdleWindowRemoval(pool: Pool, log: Log): () => void {
  let removing = false;
  const timer = setInterval(async () => {
    if (removing) return;
    removing = true;
    try {
      while ((await deleteIdleWindows(pool, CHUNK)) === CHUNK);
    } catch (cause) {
      if (!isOutage(cause)) log.error("removal of idle windows failed", { cause });
    }
    removing = false;
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
