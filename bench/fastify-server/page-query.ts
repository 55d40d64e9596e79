import type { RowDataPacket } from "mysql2/promise";
import type { Position } from "./cursor.ts";

/** A row of the feed. */
export type ActivityRow = RowDataPacket &
  Position & { [column in "type" | "platform" | "unit" | "value"]: number } & {
    [column in "occurred_at" | "refunded_amount_cents"]: number | null;
  } & { [column in "currency" | "actor_name" | "message"]: string | null };

/** A part of a feed. 0 stands for all types or platforms. */
export type PageQuery = {
  readonly accountNo: number;
  readonly limit: number;
  readonly ascending: boolean;
  readonly type: number;
  readonly platform: number;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly position?: Position | undefined;
};

const COLUMNS =
  "recorded_at, record_key, type, platform, unit, value, occurred_at, currency, refunded_amount_cents, actor_name, message";

/** Returns the statement for a page and one row more. It forces the index that has the rows in the feed's order. */
export function pageStatement(query: PageQuery): { sql: string; values: (number | string)[] } {
  const { accountNo, ascending, type, platform, since, until, position } = query;
  const conditions = ["account_no = ?"];
  const values: (number | string)[] = [accountNo];
  const add = (condition: string, ...more: (number | string)[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (type !== 0) add("type = ?", type);
  if (platform !== 0) add("platform = ?", platform);
  if (since !== undefined) add("recorded_at >= ?", since);
  if (until !== undefined) add("recorded_at < ?", until);
  if (position !== undefined) {
    const beyond = ascending ? ">" : "<";
    const { recorded_at: at, record_key: key } = position;
    add(`(recorded_at ${beyond} ? OR (recorded_at = ? AND record_key ${beyond} ?))`, at, at, key);
  }
  const names = ["activity", type !== 0 && "type", platform !== 0 && "platform"].filter(Boolean);
  const index = names.length === 1 ? "PRIMARY" : names.join("_");
  const direction = ascending ? "ASC" : "DESC";
  const sql = `SELECT ${COLUMNS} FROM activity FORCE INDEX (${index})
    WHERE ${conditions.join(" AND ")}
    ORDER BY recorded_at ${direction}, record_key ${direction} LIMIT ${query.limit + 1}`;
  return { sql, values };
}
