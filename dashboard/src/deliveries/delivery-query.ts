import { AttemptOutcome, DeliveryService, DeliveryState, WebhookEventKind } from "@activity/proto";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useTimeRange } from "../common/time-range.ts";
import type { Filters } from "../common/use-filters.ts";

const READ_AGAIN_MS = 5_000;
const ID = /^[a-z0-9]{15}$/;
const EVENT_ID = /^wev_[a-z0-9]{15}$/;

/** Tells whether a text is a whole event id: the server refuses a part of one. */
export function isEventId(text: string): boolean {
  return EVENT_ID.test(text);
}

/** Returns what to ask for to have the deliveries that filters name. */
export function useDeliveryRequest(filters: Filters) {
  const endpointId = filters.get("endpoint");
  const eventId = filters.get("event");
  return {
    // What stands in an address may be anything.
    endpointId: ID.test(endpointId) ? endpointId : "",
    state: filters.choice("state", Object.values(DeliveryState)),
    kind: filters.choice("kind", Object.values(WebhookEventKind)),
    lastOutcome: filters.choice("outcome", Object.values(AttemptOutcome)),
    eventId: isEventId(eventId) ? eventId : "",
    ...useTimeRange(filters),
  };
}

/** Reads the deliveries that filters ask for; again every few seconds while the first page alone is shown. */
export function useDeliveries(filters: Filters) {
  const request = useDeliveryRequest(filters);
  return useInfiniteQuery(
    DeliveryService.method.listDeliveries,
    { pageToken: "", ...request },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : READ_AGAIN_MS),
    },
  );
}
