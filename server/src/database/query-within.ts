import { withDeadline } from "./deadline.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "./pool.ts";

/** The deadline of a statement. A longer one fails, so that no caller waits for a connection that stopped answering. */
const DEADLINE_MS = 10_000;

/**
 * Runs one statement outside a transaction, with a deadline of ten seconds. If it fails, its connection is closed,
 * because its server may have become read-only.
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
