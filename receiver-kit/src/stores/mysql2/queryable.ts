/** What the store needs of a `mysql2/promise` pool or connection. */
export interface MysqlQueryable {
  query(sql: string, values?: unknown[]): Promise<[unknown, unknown]>;
}

/** A connection that a `mysql2/promise` pool lent. */
export interface MysqlPooledConnection extends MysqlQueryable {
  beginTransaction(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  release(): void;
  destroy(): void;
}

/** Runs a statement that changes rows, and returns how many it found. */
export async function affectedRows(
  db: MysqlQueryable,
  sql: string,
  values: unknown[],
): Promise<number> {
  const [header] = await db.query(sql, values);
  return (header as { affectedRows: number }).affectedRows; // What mysql2 gives for such a statement.
}

/** Runs a statement that reads rows. */
export async function readRows(
  db: MysqlQueryable,
  sql: string,
  values: unknown[],
): Promise<readonly Record<string, unknown>[]> {
  const [rows] = await db.query(sql, values);
  return rows as Record<string, unknown>[]; // What mysql2 gives for such a statement.
}
