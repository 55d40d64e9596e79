import type { Statement } from "../database/packet.ts";

/**
 * Ends all dashboard sessions of an account and deletes its links. The links go first: an exchange in flight holds
 * its link's lock, so its session is deleted too.
 */
export function endSessions(accountNo: number): Statement[] {
  return ["session_link", "dashboard_session"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE account_no = ?`,
    values: [accountNo],
  }));
}
