import { cutOff, DatabaseTimeoutError } from "./deadline.ts";
import { retryAfterDeadlock } from "./deadlock.ts";
import type { Pool, PoolConnection } from "./pool.ts";
import { isOutdated, noteFailure } from "./switch-over.ts";

declare const committedTogether: unique symbol;
/** A connection in a transaction. All that it writes commits together. */
export type Transaction = Pick<PoolConnection, "query"> & { readonly [committedTogether]: true };

/** Longer than three waits for a lock. Without it, a connection whose other end is gone would block for 15 minutes. */
const DEADLINE_MS = 30_000;

/**
 * Runs `work` in a transaction that commits when `work` returns and rolls back when it throws. It runs again after
 * a deadlock, so `work` changes nothing outside the database. Rejects with DatabaseTimeoutError after 30 seconds.
 * It may then have been committed, as after any lost connection.
 */
export function inTransaction<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return retryAfterDeadlock(() => runOnce(pool, work));
}

async function runOnce<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  let connection = await pool.getConnection();
  while (isOutdated(connection.connection)) {
    connection.destroy();
    connection = await pool.getConnection();
  }
  try {
    const result = await inTime(async () => {
      await connection.query("START TRANSACTION");
      // Only this line makes a Transaction. The brand exists for the type checker only.
      const returned = await work(connection as unknown as Transaction);
      await connection.query("COMMIT");
      return returned;
    });
    connection.release();
    return result;
  } catch (error) {
    noteFailure(pool.pool, error);
    // The server then rolls back. A ROLLBACK could wait for a host that has vanished.
    cutOff(connection.connection);
    throw error;
  }
}

async function inTime<Result>(work: () => Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DatabaseTimeoutError(`A transaction took longer than ${DEADLINE_MS} ms.`)),
    DEADLINE_MS,
  );
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
