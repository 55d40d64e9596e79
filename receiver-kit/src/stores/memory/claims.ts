import type { Claims } from "../../once/claims.ts";

interface Entry {
  /** The owner of the claim; undefined if the event is done. For a record, this is its newest time. */
  readonly owner: string | undefined;
  /** When the lease ends, or when a done id expires. */
  readonly expiresAtMs: number;
}

/** Creates claims in this process's memory. `clock` returns Unix time in milliseconds. */
export function createMemoryClaims(clock: () => number): Claims {
  const entries = new Map<string, Entry>();
  const isHeldBy = (eventId: string, owner: string) => entries.get(eventId)?.owner === owner;
  const put = (eventId: string, owner: string | undefined, forMs: number) => {
    entries.delete(eventId); // Keeps the entries in the order of their last write.
    entries.set(eventId, { owner, expiresAtMs: clock() + forMs });
    return true;
  };
  return {
    async claim(eventId, owner, leaseMs) {
      const entry = entries.get(eventId);
      if (entry && entry.expiresAtMs > clock()) return entry.owner === undefined ? "done" : "held";
      put(eventId, owner, leaseMs);
      return "claimed";
    },
    async renew(eventId, owner, leaseMs) {
      return isHeldBy(eventId, owner) && put(eventId, owner, leaseMs);
    },
    async complete(eventId, owner, keepMs) {
      return isHeldBy(eventId, owner) && put(eventId, undefined, keepMs);
    },
    async release(eventId, owner) {
      if (isHeldBy(eventId, owner)) entries.delete(eventId);
    },
    async keepNewest(record, time, keepMs) {
      const kept = entries.get(record)?.owner ?? "";
      const newest = kept > time ? kept : time;
      put(record, newest, keepMs);
      return newest;
    },
    async deleteExpired(limit) {
      const nowMs = clock();
      let deleted = 0;
      for (const [eventId, { owner, expiresAtMs }] of entries) {
        if (deleted === limit) break;
        if (expiresAtMs > nowMs) {
          if (owner === undefined) break; // All done ids after this one expire later.
          continue;
        }
        entries.delete(eventId);
        deleted += 1;
      }
      return deleted;
    },
  };
}
