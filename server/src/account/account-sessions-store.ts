import type { Statement } from "../database/packet.ts";

/**
 * Ends all dashboard sessions of an account and deletes its links. Deletes the links first: an exchange in flight locks
 * its link, so this deletion waits for the exchange. The deletion of sessions then finds the session of that exchange
 * too.
 */
export function endSessions(accountNo: number): Statement[] {
  return ["session_link", "dashboard_session"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE account_no = ?`,
    values: [accountNo],
  }));
}
