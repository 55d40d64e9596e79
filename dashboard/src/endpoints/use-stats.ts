import { EndpointService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { nowMs } from "../common/clock.ts";
import { useEndpoints } from "../deliveries/use-endpoints.ts";
import { HOUR_MS, healthOf } from "./hours.ts";

export const DAY_HOURS = 24;
export const MONTH_DAYS = 30;
const READ_AGAIN_MS = 30_000;

/** Reads an endpoint's hours of the last 30 days, and when the day and the month of them began. */
export function useStats(endpointId: string) {
  const { dayMs, monthMs, optionsOf } = useStatsOptions();
  return { query: useQuery(optionsOf(endpointId)), dayMs, monthMs };
}

/** Counts the endpoints that are on and fail. */
export function useFailing(): number {
  const { dayMs, optionsOf } = useStatsOptions();
  const endpoints = [...(useEndpoints()?.values() ?? [])].filter(({ switchedOn }) => switchedOn);
  const ids = endpoints.map(({ id }) => id);
  const client = useQueryClient();
  const { data = [] } = useQuery({
    queryKey: ["failing", ids],
    queryFn: () => Promise.all(ids.map((id) => client.fetchQuery(optionsOf(id)))),
    refetchInterval: READ_AGAIN_MS,
  });
  return data.filter(({ hours }) => healthOf(hours, dayMs) === "bad").length;
}

function useStatsOptions() {
  const transport = useTransport();
  // To the hour, so that it stays the same question for an hour.
  const thisHourMs = Math.floor(nowMs() / HOUR_MS) * HOUR_MS;
  const dayMs = thisHourMs - (DAY_HOURS - 1) * HOUR_MS;
  const monthMs = thisHourMs - (MONTH_DAYS * DAY_HOURS - 1) * HOUR_MS;
  const optionsOf = (endpointId: string) => ({
    ...createQueryOptions(
      EndpointService.method.getEndpointStats,
      { endpointId, since: timestampFromMs(monthMs) },
      { transport },
    ),
    refetchInterval: READ_AGAIN_MS,
  });
  return { dayMs, monthMs, optionsOf };
}
