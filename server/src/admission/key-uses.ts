import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import type { ApiKeyRow } from "./api-key-row.ts";
import { storeUses } from "./key-use-store.ts";

const INTERVAL_MS = 30_000;
/** Maximum keys per statement, so that no lock is held for long. */
const CHUNK = 1_000;
/** How far apart the uses of one statement may be. The statement stores all of them with the earliest time. */
const CHUNK_MICROS = INTERVAL_MS * 1_000;

/** Notes when API keys were last used. */
export type KeyUses = {
  /** Notes the use of a key if `used_at` is not null. A job stores it later, so no request waits for that. */
  note(row: Pick<ApiKeyRow, "key_hash" | "used_at">): void;
  stop(): void;
};

/**
 * Starts a job that stores noted uses, at most one per key and hour. A process that ends loses the uses of its last
 * half minute. The next request with such a key then notes its own use.
 */
export function startKeyUses(pool: Pool, log: Log): KeyUses {
  const noted = new Map<string, { readonly hash: Buffer; readonly usedAt: number }>();
  const stop = startPeriodicJob("noting when API keys were used", INTERVAL_MS, log, async () => {
    while (noted.size > 0) {
      const first = [...noted].slice(0, CHUNK);
      const earliest = Math.min(...first.map(([, { usedAt }]) => usedAt));
      // Leaves uses that are over `CHUNK_MICROS` later to another statement, such as those from after an outage.
      const some = first.filter(([, { usedAt }]) => usedAt - earliest <= CHUNK_MICROS);
      await storeUses(
        pool,
        some.map(([, { hash }]) => hash),
        earliest,
      );
      for (const [name] of some) noted.delete(name);
    }
  });
  return {
    note: ({ key_hash: hash, used_at: usedAt }) => {
      if (usedAt !== null) noted.set(hash.toString("latin1"), { hash, usedAt });
    },
    stop,
  };
}
