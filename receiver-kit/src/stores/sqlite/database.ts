/** What the store needs of a database: `DatabaseSync` of node:sqlite and better-sqlite3 both have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: SqliteValue[]): { changes: number | bigint };
    get(...values: SqliteValue[]): unknown;
  };
}

type SqliteValue = string | number | null;
