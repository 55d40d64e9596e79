import { randomBytes } from "node:crypto";
import mysql, { type Connection } from "mysql2/promise";

/** Opens a connection that takes the packet of `recordFollow`. */
export function connectWriter(databaseUrl: string): Promise<Connection> {
  return mysql.createConnection({ uri: databaseUrl, multipleStatements: true });
}

/** Records a follow at an account's end, as the product writes it: the feed's clock moves on, a row joins the feed. */
export async function recordFollow(writer: Connection, accountNo: number): Promise<void> {
  const recordKey = `${randomBytes(8).toString("hex").slice(0, 15)}e`;
  await writer.query(
    `START TRANSACTION;
     UPDATE account SET feed_changed_at = GREATEST(feed_changed_at + 1,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) WHERE account_no = ?;
     INSERT INTO activity (account_no, recorded_at, record_key, type, platform, unit, value, actor_name)
     SELECT account_no, feed_changed_at, ?, 2, 2, 2, 0, 'Mira' FROM account WHERE account_no = ?;
     COMMIT`,
    [accountNo, recordKey, accountNo],
  );
}
