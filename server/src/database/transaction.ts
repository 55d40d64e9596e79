import { DatabaseTimeoutError } from "./deadline.ts";
import { againAfterDeadlock } from "./deadlock.ts";
import { isReadOnly } from "./outage.ts";
import type { Pool, PoolConnection } from "./pool.ts";

declare const committedTogether: unique symbol;
/** A connection inside a transaction: what is written through it commits together. */
export type Transaction = Pick<PoolConnection, "query"> & { readonly [committedTogether]: true };

/** Three times what a lock is waited for; a connection whose other end is gone would be for a quarter of an hour. */
const DEADLINE_MS = 30_000;

/**
 * Runs `work` in a transaction that commits when it returns and leaves nothing when it throws. A
 * deadlock's loser runs again, so `work` does nothing outside the database. Rejects with
 * DatabaseTimeoutError after half a minute, and then it may have been committed or not, as whenever a
 * connection is lost.
 */
export function inTransaction<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return againAfterDeadlock(() => runOnce(pool, work));
}

async function runOnce<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.getConnection();
  try {
    const result = await inTime(async () => {
      await connection.query("START TRANSACTION");
      // The one place that makes a Transaction: the brand exists for the type checker only.
      const returned = await work(connection as unknown as Transaction);
      await connection.query("COMMIT");
      return returned;
    });
    connection.release();
    return result;
  } catch (error) {
    if (error instanceof DatabaseTimeoutError || isReadOnly(error)) connection.destroy();
    else await abandon(connection);
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

/** Rolls back; a connection on which even that fails is closed, which rolls back too. */
async function abandon(connection: PoolConnection): Promise<void> {
  try {
    await connection.query("ROLLBACK");
    connection.release();
  } catch {
    connection.destroy();
  }
}
