import type { HttpAnswer } from "./http.ts";
import type { TestStack } from "./stack.ts";

/**
 * Counts the rows of the feed that the database reads while `read` runs, with the database's own counters:
 * MariaDB's table statistics, or MySQL's performance schema.
 */
export async function countRowReads(
  stack: TestStack,
  read: () => Promise<HttpAnswer>,
): Promise<{ answer: HttpAnswer; rowsRead: number }> {
  const readCounter = await counterOf(stack);
  const before = await readCounter();
  const answer = await read();
  return { answer, rowsRead: (await readCounter()) - before };
}

async function counterOf({ database }: TestStack): Promise<() => Promise<number>> {
  const [row] = await database.query<{ version: string }>("SELECT VERSION() AS version");
  const isMariaDb = row?.version.includes("MariaDB") ?? false;
  if (isMariaDb) await database.query("SET GLOBAL userstat = ON");
  const sql = isMariaDb
    ? "SELECT ROWS_READ AS count FROM information_schema.TABLE_STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'activity'"
    : "SELECT COUNT_FETCH AS count FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = DATABASE() AND OBJECT_NAME = 'activity'";
  return async () => {
    const [counted] = await database.query<{ count: number | string }>(sql);
    return Number(counted?.count ?? 0);
  };
}
