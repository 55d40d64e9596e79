import type { Micros, MicrosColumn } from "../common/timestamps.ts";
import { type Answer, withDeadline } from "../database/deadline.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { prepared } from "../database/prepared.ts";
import { returnRawRows } from "../database/raw-rows.ts";
import type { FeedPosition } from "./activity-cursor.ts";
import type { ActivityQuery } from "./activity-query.ts";
import type { RawActivityRow } from "./rendered-page.ts";

export type ActivityRow = RowDataPacket & {
  recorded_at: number;
  record_key: string;
  type: number;
  platform: number;
  unit: number;
  value: number;
  occurred_at: MicrosColumn | null;
  currency: string | null;
  refunded_amount_cents: number | null;
  actor_name: string | null;
  message: string | null;
};

const DEADLINE_MS = 3_000;
const COLUMNS =
  "recorded_at, record_key, type, platform, unit, value, occurred_at, currency, refunded_amount_cents, actor_name, message";

/**
 * Reads the rows of a page after `position`, and one more if it exists. Each combination of filters has an index in
 * the feed's order, and the statement forces it. So the database reads only the rows that it returns.
 */
export function readActivityRows(
  pool: Pool,
  accountNo: number,
  query: ActivityQuery,
  position: FeedPosition | undefined,
): Promise<ActivityRow[]> {
  const { sql, values } = pageStatement(accountNo, query, position);
  return withDeadline<ActivityRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    connection.execute(sql, prepared(values), answer),
  );
}

/** Reads the same rows as `readActivityRows`, but leaves them as their bytes. */
export function readRawActivityRows(
  pool: Pool,
  accountNo: number,
  query: ActivityQuery,
  position: FeedPosition | undefined,
): Promise<RawActivityRow[]> {
  const { sql, values } = pageStatement(accountNo, query, position);
  return withDeadline<RawActivityRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    // The cast is needed, because the driver's type of the answer allows no bytes.
    returnRawRows(connection.execute(sql, prepared(values), answer as Answer<never>)),
  );
}

function pageStatement(
  accountNo: number,
  query: ActivityQuery,
  position: FeedPosition | undefined,
): { sql: string; values: (number | string)[] } {
  const conditions = ["account_no = ?"];
  const values: (number | string)[] = [accountNo];
  const where = (condition: string, ...bound: (number | string)[]) => {
    conditions.push(condition);
    values.push(...bound);
  };
  const { ascending, sinceMicros, untilMicros } = query;
  if (query.type !== 0) where("type = ?", query.type);
  if (query.platform !== 0) where("platform = ?", query.platform);
  if (position !== undefined) {
    const beyond = ascending ? ">" : "<";
    where(
      `(recorded_at ${beyond} ? OR (recorded_at = ? AND record_key ${beyond} ?))`,
      position.recordedAtMicros,
      position.recordedAtMicros,
      position.recordKey,
    );
  }
  // A position lies within the bounds. It therefore replaces `since` in ascending and `until` in descending order.
  if (sinceMicros !== undefined && !(ascending && position)) {
    where("recorded_at >= ?", storable(sinceMicros));
  }
  if (untilMicros !== undefined && (ascending || !position)) {
    where("recorded_at < ?", storable(untilMicros));
  }
  const direction = ascending ? "ASC" : "DESC";
  // The limit is a value and not part of the text: each connection prepares a statement for each text, and servers
  // limit the number of prepared statements.
  values.push(query.limit + 1);
  const sql = `SELECT ${COLUMNS} FROM activity FORCE INDEX (${indexOf(query)})
    WHERE ${conditions.join(" AND ")}
    ORDER BY recorded_at ${direction}, record_key ${direction} LIMIT ?`;
  return { sql, values };
}

function indexOf({ type, platform }: ActivityQuery): string {
  if (type !== 0) return platform !== 0 ? "activity_type_platform" : "activity_type";
  return platform !== 0 ? "activity_platform" : "PRIMARY";
}

/** Clamps a bound to the safe integers. Every stored `recorded_at` is a safe integer. */
function storable(micros: Micros): number {
  if (typeof micros === "number") return micros;
  return micros < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}
