import type { Statement } from "../database/packet.ts";

/**
 * Ends all sessions of an account in the dashboard, and makes its links unusable. The links come first: whoever
 * exchanges one just now has locked it, and the session that comes of it is deleted with the others.
 */
export function endSessions(accountNo: number): Statement[] {
  return ["session_link", "dashboard_session"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE account_no = ?`,
    values: [accountNo],
  }));
}
