import type { TestDatabase } from "./database.ts";

/**
 * Returns a function that counts the rows read so far, by any connection, from a table or its indexes. It uses the
 * database's own counters: MariaDB's table statistics or MySQL's performance schema.
 */
export async function rowCounterOf(
  database: TestDatabase,
  table: string,
): Promise<() => Promise<number>> {
  const [row] = await database.queryShards<{ version: string }>("SELECT VERSION() AS version");
  const isMariaDb = row?.version.includes("MariaDB") ?? false;
  if (isMariaDb) await database.queryShards("SET GLOBAL userstat = ON");
  const sql = isMariaDb
    ? "SELECT ROWS_READ AS count FROM information_schema.TABLE_STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
    : "SELECT COUNT_FETCH AS count FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = DATABASE() AND OBJECT_NAME = ?";
  return async () => {
    const counted = await database.queryShards<{ count: number | string }>(sql, [table]);
    return counted.reduce((sum, { count }) => sum + Number(count), 0);
  };
}
