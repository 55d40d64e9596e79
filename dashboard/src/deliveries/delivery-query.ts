import { AttemptOutcome, DeliveryService, DeliveryState, WebhookEventKind } from "@activity/proto";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { isRefused } from "../common/shown-data.ts";
import { useTimeRange } from "../common/time-range.ts";
import type { Filters } from "../common/use-filters.ts";

const READ_AGAIN_MS = 5_000;
const ID = /^[a-z0-9]{15}$/;
const EVENT_ID = /^wev_[a-z0-9]{15}$/;

/** Returns whether a text is a whole event id. The server refuses a partial one. */
export function isEventId(text: string): boolean {
  return EVENT_ID.test(text);
}

/** Returns the id of the endpoint whose deliveries the list shows. Empty means every endpoint. */
export function listedEndpointId(filters: Pick<Filters, "get">): string {
  const endpointId = filters.get("endpoint");
  // The address bar can hold any text. A malformed id counts as none.
  return ID.test(endpointId) ? endpointId : "";
}

/** Returns the request for the deliveries that match the filters. */
export function useDeliveryRequest(filters: Filters) {
  const eventId = filters.get("event");
  return {
    endpointId: listedEndpointId(filters),
    state: filters.choice("state", Object.values(DeliveryState)),
    kind: filters.choice("kind", Object.values(WebhookEventKind)),
    lastOutcome: filters.choice("outcome", Object.values(AttemptOutcome)),
    eventId: isEventId(eventId) ? eventId : "",
    ...useTimeRange(filters),
  };
}

/**
 * Reads the deliveries that match the filters. If `isFollowed`, it reads them every five seconds while only the first
 * page is shown, and the list was not refused.
 */
export function useDeliveries(filters: Filters, isFollowed: boolean) {
  const request = useDeliveryRequest(filters);
  return useInfiniteQuery(
    DeliveryService.method.listDeliveries,
    { pageToken: "", ...request },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        !isFollowed || isRefused(state) || (state.data?.pages.length ?? 0) > 1
          ? false
          : READ_AGAIN_MS,
    },
  );
}
