import type { SessionRecord } from "../admission/caller.ts";
import type { Pool } from "../database/pool.ts";
import { hashSessionSecret, isSessionSecret } from "./session-secret.ts";
import { findSession } from "./session-store.ts";

/** Sessions that were found before are told from made-up ones; over this number the oldest is forgotten. */
const MAX_KNOWN = 10_000;

/** Looks up the sessions that browsers show. */
export type Sessions = {
  /**
   * Finds a session as it is now: neither ended nor expired, its account neither blocked nor deleted. Before one
   * that this process has not found before is looked for, `count` counts it, or throws.
   */
  find(text: string, count: () => Promise<void>): Promise<SessionRecord | undefined>;
};

/** Creates the look-up. Nothing of a session is cached from one call to the next. */
export function createSessions(pool: Pool): Sessions {
  const known = new Set<string>();

  function remember(id: string): void {
    known.add(id);
    const [oldest] = known;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  }

  return {
    async find(text, count) {
      if (!isSessionSecret(text)) return undefined;
      const hash = hashSessionSecret(text);
      const id = hash.toString("latin1");
      if (!known.has(id)) await count();
      const session = await findSession(pool, hash);
      if (session === undefined) known.delete(id);
      else remember(id);
      return session;
    },
  };
}
