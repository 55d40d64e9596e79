import { NOW_MICROS } from "../database/now.ts";
import type { PacketRows, Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";

/** An account as it is locked. */
export type AccountRow = RowDataPacket & {
  readonly account_no: number;
  readonly id: string;
  readonly blocked_at: number | null;
  readonly feed_changed_at: number;
};

/** Reads the database's clock, once the statements before it are through. */
export const READ_NOW: Statement = { sql: `SELECT ${NOW_MICROS} AS now_micros`, values: [] };

/** Returns what `READ_NOW` read, in microseconds. */
export function nowFromRows(rows: PacketRows[number] | undefined): number {
  const now: unknown = rows?.[0]?.now_micros;
  if (typeof now !== "number") throw new Error("the database told no time");
  return now;
}

/**
 * Locks accounts that are not deleted, at least one, in the order of their numbers. One that another
 * transaction has locked is waited for, or left out.
 */
export function lockAccounts(accountNos: readonly number[], waits: boolean): Statement {
  return {
    sql: `SELECT account_no, id, blocked_at, feed_changed_at FROM account FORCE INDEX (PRIMARY)
      WHERE account_no IN (?) AND deleted_at IS NULL
      ORDER BY account_no FOR UPDATE ${waits ? "" : "SKIP LOCKED"}`,
    values: [accountNos],
  };
}

/** Stores to when the feed's clocks of accounts, at least one, moved on: pairs of a number and a time. */
export function storeFeedClocks(times: readonly (readonly [number, number])[]): Statement {
  return {
    sql: `UPDATE account SET feed_changed_at = CASE account_no ${"WHEN ? THEN ? ".repeat(times.length)}END
      WHERE account_no IN (?)`,
    values: [...times.flat(), times.map(([accountNo]) => accountNo)],
  };
}
