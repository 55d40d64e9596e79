import { NOW_MICROS } from "../database/now.ts";
import type { PacketRows, Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";

export type AccountRow = RowDataPacket & {
  readonly account_no: number;
  readonly id: string;
  readonly blocked_at: number | null;
  readonly feed_changed_at: number;
};

/** Reads the database's clock after the packet's earlier statements. */
export const READ_NOW: Statement = { sql: `SELECT ${NOW_MICROS} AS now_micros`, values: [] };

/** Returns what `READ_NOW` read, in microseconds. */
export function nowFromRows(rows: PacketRows[number] | undefined): number {
  const now: unknown = rows?.[0]?.now_micros;
  if (typeof now !== "number") throw new Error("the database returned no time");
  return now;
}

/**
 * Locks accounts (at least one) that are not deleted, in the order of their numbers. Skips accounts that another
 * transaction has locked, unless `waits` is true.
 */
export function lockAccounts(accountNos: readonly number[], waits: boolean): Statement {
  return {
    sql: `SELECT account_no, id, blocked_at, feed_changed_at FROM account FORCE INDEX (PRIMARY)
      WHERE account_no IN (?) AND deleted_at IS NULL
      ORDER BY account_no FOR UPDATE ${waits ? "" : "SKIP LOCKED"}`,
    values: [accountNos],
  };
}

/** Stores the new feed clocks of accounts (at least one): pairs of an account number and a time. */
export function storeFeedClocks(times: readonly (readonly [number, number])[]): Statement {
  return {
    sql: `UPDATE account SET feed_changed_at = CASE account_no ${"WHEN ? THEN ? ".repeat(times.length)}END
      WHERE account_no IN (?)`,
    values: [...times.flat(), times.map(([accountNo]) => accountNo)],
  };
}
