import type { Statement } from "../database/packet.ts";

/**
 * Ends all dashboard sessions of an account and makes its links unusable. The links come first.
 * An exchange that is in flight holds its link's lock, so its session is deleted with the others.
 */
export function endSessions(accountNo: number): Statement[] {
  return ["session_link", "dashboard_session"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE account_no = ?`,
    values: [accountNo],
  }));
}
