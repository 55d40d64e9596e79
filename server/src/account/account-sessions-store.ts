import type { Statement } from "../database/packet.ts";

/**
 * Ends all dashboard sessions of an account and deletes its links. Deletes the links first, which waits for exchanges
 * in flight, because they lock their links. The sessions of these exchanges are then deleted too.
 */
export function endSessions(accountNo: number): Statement[] {
  return ["session_link", "dashboard_session"].map((table) => ({
    sql: `DELETE FROM ${table} WHERE account_no = ?`,
    values: [accountNo],
  }));
}
