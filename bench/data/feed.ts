import { randomBytes } from "node:crypto";
import type { Connection, RowDataPacket } from "mysql2/promise";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import type { AccountRange } from "./bench-accounts.ts";

type Row = RowDataPacket & { account_no: number; recorded_at: number };

/** Reads when each account's records were recorded, in microseconds, newest first. */
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

/**
 * Records a follow as the product does: it advances the feed's clock and adds a row. The connection must accept
 * several statements at once.
 */
export async function recordFollow(writer: Connection, accountNo: number): Promise<void> {
  const recordKey = `${randomBytes(8).toString("hex").slice(0, 15)}e`;
  await writer.query(
    `START TRANSACTION;
     UPDATE account SET feed_changed_at = GREATEST(feed_changed_at + 1, ${NOW_MICROS}) WHERE account_no = ?;
     INSERT INTO activity (account_no, recorded_at, record_key, type, platform, unit, value, actor_name)
     SELECT account_no, feed_changed_at, ?, 2, 2, 2, 0, 'Mira' FROM account WHERE account_no = ?;
     COMMIT`,
    [accountNo, recordKey, accountNo],
  );
}
