/** The part of a database that the store uses. `DatabaseSync` of node:sqlite and better-sqlite3 both fit. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: SqliteValue[]): { changes: number | bigint };
    get(...values: SqliteValue[]): unknown;
  };
}

type SqliteValue = string | number | null;
