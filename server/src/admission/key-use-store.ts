import type { Pool, ResultSetHeader } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { USE_DUE } from "./api-key-row.ts";

/**
 * Stores that keys were used at a time, unless a use within the hour before it, or a later one, is stored. `keyHashes`
 * has at least one.
 */
export async function storeUses(
  pool: Pool,
  keyHashes: readonly Buffer[],
  usedAtMicros: number,
): Promise<void> {
  await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE api_key k FORCE INDEX (api_key_hash) SET k.last_used_at = ?
     WHERE k.key_hash IN (?) AND ${USE_DUE("?")}`,
    [usedAtMicros, keyHashes, usedAtMicros],
  );
}
