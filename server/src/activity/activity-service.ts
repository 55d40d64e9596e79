import type {
  ActivityService,
  ListActivitiesRequest,
  ListActivitiesResponse,
  WaitForActivityRequest,
} from "@activity/proto";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Pool } from "../database/pool.ts";
import type { FeedChanges } from "../feed-change/feed-changes.ts";
import { type CursorKey, parseCursor, signCursor } from "./activity-cursor.ts";
import { pageEtag } from "./activity-etag.ts";
import { type ActivityQuery, parseActivityQuery } from "./activity-query.ts";
import { activityFromRow } from "./activity-row.ts";
import { type ActivityRow, readActivityRows } from "./activity-store.ts";
import { readAccountOf } from "./read-account.ts";

/** The longest wait of a poll. ADR 0052 */
const MAX_WAIT_MS = 10_000;
const NO_PAGE = { activities: [], hasMore: false, notModified: true };

/**
 * Serves the feed. The first of `cursorKeys` signs and all verify, so that cursors stay valid when a key is
 * replaced.
 */
export function createActivityService(
  pool: Pool,
  cursorKeys: readonly [CursorKey, ...CursorKey[]],
  changes: Pick<FeedChanges, "later">,
): ServiceImpl<typeof ActivityService> {
  async function listActivities(
    request: ListActivitiesRequest,
    context: HandlerContext,
  ): Promise<ListActivitiesResponse> {
    const query = parseActivityQuery(request);
    const account = await readAccountOf(pool, context, request.accountId);
    const position =
      request.cursor === undefined
        ? undefined
        : parseCursor(cursorKeys, account.id, query, request.cursor);
    const etag = pageEtag(cursorKeys[0], account, query, request.cursor);
    const feed = {
      $typeName: "activity.read.v1.ListActivitiesResponse" as const,
      ...{ etag, accountId: account.id, feedVersion: BigInt(account.feedVersion) },
    };
    if (request.ifNoneMatch === etag) return { ...feed, ...NO_PAGE };
    const rows = await readActivityRows(pool, account.no, query, position);
    const page = rows.length > query.limit ? rows.slice(0, query.limit) : rows;
    const nextCursor = cursorAfter(page, account.id, query) ?? request.cursor;
    return {
      ...feed,
      activities: page.map(activityFromRow),
      hasMore: rows.length > query.limit,
      notModified: false,
      ...(nextCursor !== undefined && { nextCursor }),
    };
  }

  function cursorAfter(page: ActivityRow[], accountId: string, query: ActivityQuery) {
    const last = page.at(-1);
    return (
      last &&
      signCursor(cursorKeys[0], accountId, query, {
        recordedAtMicros: last.recorded_at,
        recordKey: last.record_key,
      })
    );
  }

  async function waitForActivity(
    { accountId, feedVersion }: WaitForActivityRequest,
    context: HandlerContext,
  ) {
    const account = await readAccountOf(pool, context, accountId);
    const current = { accountId: account.id, version: account.feedVersion };
    const isLater = feedVersion === undefined || BigInt(current.version) > feedVersion;
    const version = isLater
      ? current.version
      : await changes.later(current, MAX_WAIT_MS, context.signal);
    return { feedVersion: BigInt(version) };
  }

  return { listActivities, waitForActivity };
}
