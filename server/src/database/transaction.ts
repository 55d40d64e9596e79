import { cutOff, withDeadline } from "./deadline.ts";
import { retryAfterDeadlock } from "./deadlock.ts";
import type { Pool, PoolConnection } from "./pool.ts";

declare const committedTogether: unique symbol;
/** A connection in a transaction. All that it writes commits together. */
export type Transaction = Pick<PoolConnection, "query"> & { readonly [committedTogether]: true };

/** Longer than three waits for a lock. Without it, a connection whose other end is gone would block for 15 minutes. */
const DEADLINE_MS = 30_000;

/**
 * Runs `work` in a transaction that commits when `work` returns and rolls back when it throws. It runs again after
 * a deadlock, so `work` changes nothing outside the database. Rejects with DatabaseTimeoutError after 30 seconds,
 * including the wait for a connection. It may then have been committed, as after any lost connection.
 */
export function inTransaction<Result>(
  pool: Pool,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return retryAfterDeadlock(() => runOnce(pool, work));
}

function runOnce<Result>(pool: Pool, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return withDeadline<Result>(pool, DEADLINE_MS, (connection, answer) => {
    commit(connection.promise(), work).then(
      (result) => answer(null, result),
      (error) => {
        // When the connection closes, the server rolls back. A ROLLBACK could wait for a host that has vanished.
        cutOff(connection);
        answer(error, undefined as never);
      },
    );
  });
}

async function commit<Result>(
  connection: PoolConnection,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  await connection.query("START TRANSACTION");
  // Only this line makes a Transaction. The brand exists for the type checker only.
  const returned = await work(connection as unknown as Transaction);
  await connection.query("COMMIT");
  return returned;
}
