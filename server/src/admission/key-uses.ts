import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import type { ApiKeyRow } from "./api-key-row.ts";
import { storeUses } from "./key-use-store.ts";

const INTERVAL_MS = 30_000;
/** Maximum keys per statement, so that no lock is held for long. */
const CHUNK = 1_000;

/** Notes when API keys were last used. */
export type KeyUses = {
  /** Notes the use of a key if it is due. It is stored later, and no request waits for that. */
  note(row: Pick<ApiKeyRow, "key_hash" | "use_due">): void;
  stop(): void;
};

/**
 * Starts a job that stores noted uses, at most one per key and hour. A process that ends loses the uses of its last
 * half minute. The next request with such a key notes it again.
 */
export function startKeyUses(pool: Pool, log: Log): KeyUses {
  const noted = new Map<string, Buffer>();
  const stop = startPeriodicJob("noting when API keys were used", INTERVAL_MS, log, async () => {
    while (noted.size > 0) {
      const some = [...noted].slice(0, CHUNK);
      await storeUses(
        pool,
        some.map(([, hash]) => hash),
      );
      for (const [name] of some) noted.delete(name);
    }
  });
  return {
    note: ({ key_hash: hash, use_due: isDue }) => {
      if (isDue === 1) noted.set(hash.toString("latin1"), hash);
    },
    stop,
  };
}
