import type { Pool, ResultSetHeader } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { USE_DUE } from "./api-key-row.ts";

/**
 * Stores `usedAtMicros` as the last use of keys (at least one). Skips a key whose stored use is later, or at most an
 * hour earlier.
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
