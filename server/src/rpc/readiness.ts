import { withDeadline } from "../database/deadline.ts";
import type { Pool } from "../database/pool.ts";

const DEADLINE_MS = 1_000;
/** The database is asked no more often, however many ask: nobody needs a credential for it. */
const CACHE_TTL_MS = 1_000;

/** Whether a core serves. */
export type CoreReadiness = "serving" | "unavailable" | "draining";

/** What a core knows of itself. */
export type Readiness = {
  /** As the database answers now, or did less than a second ago. */
  read(): Promise<CoreReadiness>;
  /** Reports from now on that it drains, whatever the state of the database. */
  drain(): void;
  /** Aborted once it is. */
  readonly draining: AbortSignal;
};

/** Creates the readiness of a core: it serves while the database answers, until it is drained. */
export function createReadiness(pool: Pool, nowMs: () => number): Readiness {
  const drained = new AbortController();
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
