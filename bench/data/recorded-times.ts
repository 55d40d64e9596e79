import type { Connection, RowDataPacket } from "mysql2/promise";
import type { AccountRange } from "./bench-accounts.ts";

type Row = RowDataPacket & { account_no: number; recorded_at: number };

/** Reads when the shown records of accounts were recorded, in microseconds, newest first. */
export async function readRecordedTimes(
  database: Pick<Connection, "query">,
  { first, count }: AccountRange,
): Promise<Map<number, number[]>> {
  const [rows] = await database.query<Row[]>(
    `SELECT account_no, recorded_at FROM activity WHERE account_no >= ? AND account_no < ?
     ORDER BY account_no, recorded_at DESC`,
    [first, first + count],
  );
  const times = new Map<number, number[]>();
  for (const { account_no: accountNo, recorded_at: recordedAt } of rows) {
    const known = times.get(accountNo);
    if (known === undefined) times.set(accountNo, [recordedAt]);
    else known.push(recordedAt);
  }
  return times;
}
