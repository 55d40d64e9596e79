import type { SessionRecord } from "../admission/caller.ts";
import type { Pool } from "../database/pool.ts";
import { hashSessionSecret, isSessionSecret } from "./session-secret.ts";
import { findSession } from "./session-store.ts";

/**
 * How many known sessions this process remembers, so that it does not count them again. One more removes the oldest.
 */
const MAX_KNOWN = 10_000;

/** Looks up the sessions that browsers send. */
export type Sessions = {
  /**
   * Finds a session that has neither ended nor expired. Its account is neither blocked nor deleted. If this process has
   * not found the session before, it first calls `count`, which may throw.
   */
  find(text: string, count: () => Promise<void>): Promise<SessionRecord | undefined>;
};

/** Creates the look-up. Each call reads the session from the database again. */
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
