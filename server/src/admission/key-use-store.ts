import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { USE_DUE } from "./api-key-row.ts";

/** Stores that keys are used now, unless a use within the last hour is stored. `keyHashes` has at least one. */
export async function storeUses(pool: Pool, keyHashes: readonly Buffer[]): Promise<void> {
  await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE api_key k FORCE INDEX (api_key_hash) SET k.last_used_at = ${NOW_MICROS}
     WHERE k.key_hash IN (?) AND ${USE_DUE(NOW_MICROS)}`,
    [keyHashes],
  );
}
