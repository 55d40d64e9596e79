import { createPool } from "../../server/src/database/pool.ts";
import { countAttempts } from "../../server/src/delivery-stat/delivery-stat.ts";
import type { TestDatabase } from "./database.ts";

/** Counts the recorded attempts, as each core does every half minute (`test/core/noted-later.test.ts`). */
export async function countAttemptsNow({ url }: TestDatabase): Promise<void> {
  const pool = createPool(url, 1);
  await countAttempts(pool);
  await pool.end();
}
