import { ActivityService, ActivityType, Order, Platform } from "@activity/proto";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTimeRange } from "../common/time-range.ts";
import type { Filters } from "../common/use-filters.ts";

/** Delays before the page waits for a change again: after a wait, and after a failure. */
const NEXT_WAIT_MS = 100;
const AFTER_FAILURE_MS = 5_000;

/**
 * Reads the feed with the filters, newest first. If `isFollowed`, it reads the first page again when the feed changes,
 * so a refunded record disappears. It does not follow while older pages are shown. ADR 0052
 */
export function useActivities(filters: Filters, isFollowed: boolean) {
  const range = useTimeRange(filters);
  const query = useInfiniteQuery(
    ActivityService.method.listActivities,
    {
      // The first page has no cursor, but the type requires one.
      cursor: undefined as unknown as string,
      order: Order.DESC,
      type: filters.choice("type", Object.values(ActivityType)),
      platform: filters.choice("platform", Object.values(Platform)),
      ...range,
    },
    {
      pageParamKey: "cursor",
      getNextPageParam: ({ hasMore, nextCursor }) => (hasMore ? nextCursor : undefined),
      placeholderData: keepPreviousData,
    },
  );
  const { refetch } = query;
  const [first, ...older] = query.data?.pages ?? [];
  const feedVersion = first?.feedVersion ?? 0n;
  const { data: feed } = useQuery(
    ActivityService.method.waitForActivity,
    { feedVersion },
    {
      enabled: isFollowed && first !== undefined && older.length === 0,
      refetchInterval: ({ state }) => (state.status === "error" ? AFTER_FAILURE_MS : NEXT_WAIT_MS),
      gcTime: 0,
    },
  );
  const hasChanged = feed !== undefined && feed.feedVersion > feedVersion;
  useEffect(() => {
    if (hasChanged) void refetch();
  }, [hasChanged, refetch]);
  return query;
}
