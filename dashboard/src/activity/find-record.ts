import type { Activity, ActivityService } from "@activity/proto";
import type { Client } from "@connectrpc/connect";
import type { momentOf } from "../record/record-address.ts";

/** The maximum page size. */
const limit = 100;

/**
 * Looks for a record in the feed at its moment, page by page. An import stores up to 1,000 records at one moment.
 * Without a moment it reads only the newest page, because the whole feed can be long.
 */
export async function findRecord(
  feed: Pick<Client<typeof ActivityService>, "listActivities">,
  activityId: string,
  moment: ReturnType<typeof momentOf>,
  signal?: AbortSignal,
): Promise<Activity | undefined> {
  let cursor: string | undefined;
  do {
    const request = { ...moment, limit, ...(cursor !== undefined && { cursor }) };
    const page = await feed.listActivities(request, { ...(signal && { signal }) });
    const record = page.activities.find(({ id }) => id === activityId);
    if (record !== undefined) return record;
    cursor = page.hasMore ? page.nextCursor : undefined;
  } while (moment !== undefined && cursor !== undefined);
  return undefined;
}
