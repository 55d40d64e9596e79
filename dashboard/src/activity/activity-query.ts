import { ActivityService, ActivityType, Order, Platform } from "@activity/proto";
import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery, useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { nowMs } from "../common/clock.ts";
import { useTimeRange } from "../common/time-range.ts";
import type { Filters } from "../common/use-filters.ts";
import { type Waited, waitPauseMs } from "./wait-pause.ts";

/** The delay before each wait. Without it, a feed that changes all the time would end each wait at once. */
const BEFORE_WAIT_MS = 300;

/**
 * Reads the feed with the filters, newest first. If `isFollowed`, it reads the first page again when the feed changes,
 * or when the wait for a change fails. So a record that was refunded disappears. It does not follow while older pages
 * are shown. `limit` is the size of a page, by default the server's. ADR 0052
 */
export function useActivities(filters: Filters, isFollowed: boolean, limit?: number) {
  const range = useTimeRange(filters);
  const query = useInfiniteQuery(
    ActivityService.method.listActivities,
    {
      // The first page has no cursor, but the type requires one.
      cursor: undefined as unknown as string,
      order: Order.DESC,
      type: filters.choice("type", Object.values(ActivityType)),
      platform: filters.choice("platform", Object.values(Platform)),
      ...(limit && { limit }),
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
  const isFollowing = isFollowed && older.length === 0;
  const feedVersion = first?.feedVersion ?? 0n;
  const activities = createClient(ActivityService, useTransport());
  const {
    data: feed,
    dataUpdatedAt,
    failureCount,
  } = useQuery({
    queryKey: ["waitForActivity", String(feedVersion)],
    queryFn: async ({ signal }): Promise<Waited> => {
      await new Promise((resolve) => setTimeout(resolve, BEFORE_WAIT_MS));
      const begunMs = nowMs();
      const answer = await activities.waitForActivity({ feedVersion }, { signal });
      return { feedVersion: answer.feedVersion, waitedMs: nowMs() - begunMs };
    },
    enabled: isFollowing && first !== undefined,
    refetchInterval: ({ state }) => waitPauseMs(feedVersion, state.status === "error", state.data),
    gcTime: 0,
  });
  const hasChanged = feed !== undefined && feed.feedVersion > feedVersion;
  // A failed wait may hide a change, so the page then reads too. In an outage this read fails, and shows its error
  // until the service is back.
  const mustRead = hasChanged || failureCount > 0;
  useEffect(() => {
    // A read in flight must not begin again: it may be slow, or read an older page. When the page no longer follows, a
    // wait in flight still ends, but must not start a read.
    if (mustRead && isFollowing) void refetch({ cancelRefetch: false });
    // If the read fails, the next answer to a wait has the same version. Its later time, `dataUpdatedAt`, starts
    // another read.
  }, [mustRead, isFollowing, refetch, dataUpdatedAt, failureCount]);
  return query;
}
