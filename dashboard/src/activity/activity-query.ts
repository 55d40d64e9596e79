import { ActivityService, ActivityType, Order, Platform } from "@activity/proto";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { timestampFromLocal } from "../common/local-time.ts";
import type { Filters } from "../common/use-filters.ts";

/** As often as the contract advises pollers. §4.4 */
const FOLLOW_EVERY_MS = 5_000;

/**
 * Reads the feed for the filters, newest first. While it is followed its first page is read again
 * every few seconds, so a refunded record disappears.
 */
export function useActivities(filters: Filters, isFollowed: boolean) {
  return useInfiniteQuery(
    ActivityService.method.listActivities,
    {
      // The first page is asked for without one; the type knows no page without.
      cursor: undefined as unknown as string,
      order: Order.DESC,
      type: filters.choice("type", Object.values(ActivityType)),
      platform: filters.choice("platform", Object.values(Platform)),
      since: timestampFromLocal(filters.get("since")),
      until: timestampFromLocal(filters.get("until")),
    },
    {
      pageParamKey: "cursor",
      getNextPageParam: ({ hasMore, nextCursor }) => (hasMore ? nextCursor : undefined),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        isFollowed && (state.data?.pages.length ?? 0) <= 1 ? FOLLOW_EVERY_MS : false,
    },
  );
}
