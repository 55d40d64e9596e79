import { cutOff, withDeadline } from "./deadline.ts";
import { retryAfterDeadlock } from "./deadlock.ts";
import type { Pool, PoolConnection } from "./pool.ts";

declare const committedTogether: unique symbol;
/** A connection in a transaction. All that it writes commits together. */
export type Transaction = Pick<PoolConnection, "query"> & { readonly [committedTogether]: true };

/**
 * The deadline: longer than three waits for locks. Without it, a connection with a dead other end blocks for 15
 * minutes.
 */
const DEADLINE_MS = 30_000;

/**
 * Runs `work` in a transaction that commits when `work` returns and rolls back when it throws. `work` runs again after
 * a deadlock, so it must change nothing outside the database. Rejects with DatabaseTimeoutError after 30 seconds,
 * including the wait for a connection. The transaction may then have been committed, as after any lost connection.
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
        // Closes the connection, so that the server rolls back. A ROLLBACK could wait for a host that has vanished.
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
