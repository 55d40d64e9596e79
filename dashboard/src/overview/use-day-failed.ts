import { type Delivery, DeliveryService, DeliveryState } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEndpoints } from "../deliveries/use-endpoints.ts";
import { dayStartMs } from "../endpoints/use-stats.ts";
import { pageSize, READ_AGAIN_MS, useDayDeliveries } from "./use-day-deliveries.ts";

const state = DeliveryState.FAILED;

/** The newest failed deliveries of an endpoint. `isAll`: there are no others in the last day. */
export type DayFailed = { readonly deliveries: readonly Delivery[]; readonly isAll: boolean };

/**
 * Reads one page of the last day's failed deliveries. If more follow, reads a page of each endpoint too, because one
 * endpoint can fill the first page. Returns a function from an endpoint's id to its failed deliveries.
 */
export function useDayFailed(): (endpointId: string) => DayFailed {
  const { isRead, deliveries, isAll } = useDayDeliveries(state);
  const client = createClient(DeliveryService, useTransport());
  const ids = [...(useEndpoints()?.keys() ?? [])];
  const { data } = useQuery({
    queryKey: ["dayFailed", ids],
    enabled: isRead && !isAll,
    queryFn: async ({ signal }) => {
      const since = timestampFromMs(dayStartMs());
      const read = ids.map(async (endpointId) => {
        const request = { endpointId, state, since, pageSize };
        const page = await client.listDeliveries(request, { signal });
        return [endpointId, page] as const;
      });
      return new Map(await Promise.all(read));
    },
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
  });
  const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
  return (endpointId) => {
    const page = isAll ? undefined : data?.get(endpointId);
    return {
      deliveries: page?.deliveries ?? byEndpoint.get(endpointId) ?? [],
      isAll: isAll || page?.nextPageToken === "",
    };
  };
}
