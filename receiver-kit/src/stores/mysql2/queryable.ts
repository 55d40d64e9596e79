/** The part of a `mysql2/promise` pool or connection that the store uses. */
export interface MysqlQueryable {
  query(sql: string, values?: unknown[]): Promise<[unknown, unknown]>;
}

/** A connection from a `mysql2/promise` pool. */
export interface MysqlPooledConnection extends MysqlQueryable {
  beginTransaction(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  release(): void;
  destroy(): void;
}

/** Runs a statement that changes rows. Returns mysql2's `affectedRows`. */
export async function affectedRows(
  db: MysqlQueryable,
  sql: string,
  values: unknown[],
): Promise<number> {
  const [header] = await db.query(sql, values);
  return (header as { affectedRows: number }).affectedRows; // mysql2 returns a header for such a statement.
}

/**
 * Runs a statement that reads one column. Returns its values. Depending on the pool's options, a text may be a Buffer.
 */
export async function readColumn(
  db: MysqlQueryable,
  sql: string,
  values: unknown[],
): Promise<readonly unknown[]> {
  const [rows] = await db.query(sql, values);
  return (rows as object[]).map(onlyValue); // mysql2 returns rows for such a statement.
}

/** Depending on the pool's options, a row is an object, a list, or an object with an object for each table. */
function onlyValue(row: object): unknown {
  const [value] = Object.values(row);
  return value?.constructor === Object ? onlyValue(value) : value;
}
