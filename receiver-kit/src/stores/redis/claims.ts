import type { ClaimResult, Claims } from "../../once/claims.ts";
import {
  CLAIM_SCRIPT,
  COMPLETE_SCRIPT,
  KEEP_NEWEST_SCRIPT,
  RELEASE_SCRIPT,
  RENEW_SCRIPT,
} from "./scripts.ts";

/** Runs a Lua script with one key. */
export type RunScript = (script: string, key: string, values: string[]) => Promise<unknown>;

/** Creates claims in Redis or Valkey, by the server's clock. The server deletes expired keys itself. */
export function createRedisClaims(runScript: RunScript, keyPrefix: string): Claims {
  const update = async (script: string, eventId: string, owner: string, forMs: number) => {
    const values = [owner, String(Math.ceil(forMs))];
    // With the option stringNumbers, ioredis returns a number as text.
    return Number(await runScript(script, keyPrefix + eventId, values)) === 1;
  };
  return {
    async claim(eventId, owner, leaseMs) {
      const values = [owner, String(Math.ceil(leaseMs))];
      // The script returns only the words of ClaimResult. node-redis can return them as Buffers.
      return String(await runScript(CLAIM_SCRIPT, keyPrefix + eventId, values)) as ClaimResult;
    },
    renew: (eventId, owner, leaseMs) => update(RENEW_SCRIPT, eventId, owner, leaseMs),
    complete: (eventId, owner, keepMs) => update(COMPLETE_SCRIPT, eventId, owner, keepMs),
    release: async (eventId, owner) => {
      await runScript(RELEASE_SCRIPT, keyPrefix + eventId, [owner]);
    },
    async keepNewest(record, time, keepMs) {
      const values = [time, String(Math.ceil(keepMs))];
      return String(await runScript(KEEP_NEWEST_SCRIPT, keyPrefix + record, values));
    },
    deleteExpired: async () => 0,
  };
}
