import mysql from "mysql2/promise";
import { HISTORY_ACCOUNT_NO } from "../data/bench-accounts.ts";

/**
 * Called before each request: it moves the feed's clock on, so that no page is known from before, and now and
 * then makes the limits forget what they counted.
 */
export type FreshWindow = () => Promise<void>;

const MOVE_CLOCK = "UPDATE account SET feed_changed_at = feed_changed_at + 1 WHERE account_no = ?";
/** Below the account's limit of 120. */
const REQUESTS_AT_ONCE = 100;

/**
 * One account may make 120 requests a minute, and the long history is one account's: its requests are
 * counted like all others, and the counts are deleted after every 100.
 */
export async function openFreshWindow(
  databaseUrl: string,
): Promise<{ freshWindow: FreshWindow; close(): Promise<void> }> {
  const connection = await mysql.createConnection(databaseUrl);
  let requests = 0;
  return {
    async freshWindow() {
      await connection.query(MOVE_CLOCK, [HISTORY_ACCOUNT_NO]);
      if (requests++ % REQUESTS_AT_ONCE === 0) await connection.query("DELETE FROM rate_window");
    },
    close: () => connection.end(),
  };
}
