import { withDeadline } from "../database/deadline.ts";
import type { Pool } from "../database/pool.ts";

const DEADLINE_MS = 1_000;
/** The database is queried at most once in this time, because health checks need no credential. */
const CACHE_TTL_MS = 1_000;

export type CoreReadiness = "serving" | "unavailable" | "draining";

export type Readiness = {
  /** Returns the state. The database's answer is at most a second old. */
  read(): Promise<CoreReadiness>;
  /** Reports `draining` from now on, in any state of the database. */
  drain(): void;
  readonly draining: AbortSignal;
  /** Aborts `stopping`, which also ends the calls that began after `drain`. */
  stop(): void;
  readonly stopping: AbortSignal;
};

/** Creates the readiness of a core. The core serves while the database answers, until it drains. */
export function createReadiness(pool: Pool, nowMs: () => number): Readiness {
  const drained = new AbortController();
  const stopped = new AbortController();
  let last: { readonly state: Promise<CoreReadiness>; readonly untilMs: number } | undefined;
  return {
    async read() {
      if (drained.signal.aborted) return "draining";
      if (last === undefined || nowMs() >= last.untilMs) {
        last = { state: askDatabase(pool), untilMs: nowMs() + CACHE_TTL_MS };
      }
      return last.state;
    },
    drain: () => drained.abort(),
    draining: drained.signal,
    stop: () => stopped.abort(),
    stopping: stopped.signal,
  };
}

async function askDatabase(pool: Pool): Promise<CoreReadiness> {
  try {
    await withDeadline(pool, DEADLINE_MS, (connection, answer) =>
      connection.query("SELECT 1", answer),
    );
    return "serving";
  } catch {
    return "unavailable";
  }
}
