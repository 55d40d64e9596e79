import { withDeadline } from "../database/deadline.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { OF_SHARDS_THAT_SERVE } from "../database/shard-error.ts";
import type { FeedVersion } from "./feed-changes.ts";

const DEADLINE_MS = 3_000;
/**
 * The most feeds that a search finds. Changes beyond this number arrive late by at most one poll's wait. None is
 * missed, because clients poll again.
 */
const MAX_ROWS = 10_000;

type ChangedRow = RowDataPacket & { id: string; feed_changed_at: number };

/**
 * Finds the feeds that changed in the last `ms` milliseconds by the database's clock, the latest first. Leaves out a
 * shard that is away. Its last changes arrive late, like those beyond the limit.
 */
export async function findChangedFeeds(pool: Pool, ms: number): Promise<FeedVersion[]> {
  const sql = `SELECT ${OF_SHARDS_THAT_SERVE} id, feed_changed_at FROM account FORCE INDEX (account_feed_changed)
    WHERE feed_changed_at > ${NOW_MICROS} - ?
    ORDER BY feed_changed_at DESC LIMIT ${MAX_ROWS}`;
  const rows = await withDeadline<ChangedRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    connection.query(sql, [Math.ceil(ms * 1_000)], answer),
  );
  return rows.map((row) => ({ accountId: row.id, version: row.feed_changed_at }));
}
