import type {
  ActivityService,
  ListActivitiesRequest,
  ListActivitiesResponse,
  WaitForActivityRequest,
} from "@activity/proto";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Pool } from "../database/pool.ts";
import type { FeedChanges } from "../feed-change/feed-changes.ts";
import { type CursorKey, type FeedPosition, parseCursor, signCursor } from "./activity-cursor.ts";
import { pageEtag } from "./activity-etag.ts";
import { parseActivityQuery } from "./activity-query.ts";
import { activityFromRow } from "./activity-row.ts";
import { readActivityRows, readRawActivityRows } from "./activity-store.ts";
import { readAccountOf } from "./read-account.ts";
import { positionOf, renderPage } from "./rendered-page.ts";

/** The longest wait of a `WaitForActivity` call. ADR 0052 */
const MAX_WAIT_MS = 10_000;
const NO_PAGE = {
  ...{ activities: [], hasMore: false, notModified: false },
  ...{ json: new Uint8Array(), isEmpty: false },
};

/**
 * Serves the feed. The first of `cursorKeys` signs cursors. All of them verify cursors, so that these stay valid when a
 * key is replaced.
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
    if (request.ifNoneMatch === etag) return { ...feed, ...NO_PAGE, notModified: true };
    const nextCursor = (end: FeedPosition | undefined) =>
      end === undefined ? request.cursor : signCursor(cursorKeys[0], account.id, query, end);
    if (request.asJson) {
      const rows = await readRawActivityRows(pool, account.no, query, position);
      const { page, hasMore, last } = pageOf(rows, query.limit);
      const json = renderPage(page, hasMore, nextCursor(last && positionOf(last)));
      return { ...feed, ...NO_PAGE, json, isEmpty: page.length === 0 };
    }
    const rows = await readActivityRows(pool, account.no, query, position);
    const { page, hasMore, last } = pageOf(rows, query.limit);
    const cursor = nextCursor(
      last && { recordedAtMicros: last.recorded_at, recordKey: last.record_key },
    );
    return {
      ...{ ...feed, ...NO_PAGE, activities: page.map(activityFromRow), hasMore },
      ...(cursor !== undefined && { nextCursor: cursor }),
    };
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

/** Returns the page: at most `limit` of the rows that were read. A further row means that there is another page. */
function pageOf<Row>(rows: readonly Row[], limit: number) {
  const hasMore = rows.length > limit;
  const page = hasMore ? rows.slice(0, limit) : rows;
  return { page, hasMore, last: page.at(-1) };
}
