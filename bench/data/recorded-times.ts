import type { Connection, RowDataPacket } from "mysql2/promise";
import type { AccountRange } from "./bench-accounts.ts";

type Row = RowDataPacket & { account_no: number; recorded_at: number };

/** Reads when the records of accounts were recorded, in microseconds, newest first. */
export async function readRecordedTimes(
  database: Pick<Connection, "query">,
  { first, count }: AccountRange,
): Promise<Map<number, number[]>> {
  const [rows] = await database.query<Row[]>(
    `SELECT account_no, recorded_at FROM activity WHERE account_no >= ? AND account_no < ?
     ORDER BY account_no, recorded_at DESC`,
    [first, first + count],
  );
  const byAccount = [...Map.groupBy(rows, ({ account_no }) => account_no)];
  return new Map(byAccount.map(([no, some]) => [no, some.map(({ recorded_at }) => recorded_at)]));
}
