import { withDeadline } from "./deadline.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "./pool.ts";

/** A statement that takes longer is given up: nobody waits for a connection that fell silent. */
const DEADLINE_MS = 10_000;

/**
 * Runs one statement outside a transaction, with a deadline of ten seconds. A connection on which it failed
 * is closed, so that one to a server that can only be read is not used again.
 */
export function queryWithin<Result extends RowDataPacket[] | ResultSetHeader>(
  pool: Pool,
  sql: string,
  values: readonly unknown[],
): Promise<Result> {
  return withDeadline<Result>(pool, DEADLINE_MS, (connection, answer) =>
    connection.query<Result>(sql, [...values], answer),
  );
}
