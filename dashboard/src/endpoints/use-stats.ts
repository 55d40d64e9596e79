import { type Endpoint, EndpointService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { nowMs } from "../common/clock.ts";
import { unlessRefused } from "../common/shown-data.ts";
import { useEndpoints } from "../deliveries/use-endpoints.ts";
import { HOUR_MS, healthOf, sumOf } from "./hours.ts";

const DAY_HOURS = 24;
const MONTH_DAYS = 30;
const READ_AGAIN_MS = 30_000;

/** Reads the statistics of an endpoint's last 30 days. `dayMs` is the start of the last day. */
export function useStats(endpointId: string) {
  const { dayMs, optionsOf } = useStatsOptions();
  return { query: useQuery(optionsOf(endpointId)), dayMs };
}

/** The statistics of an endpoint's last day. */
export type DayStats = {
  readonly endpoint: Endpoint;
  readonly health: ReturnType<typeof healthOf>;
  readonly delivered: number;
};

/** Returns the statistics of every endpoint's last day, or `undefined` before they are known. */
export function useDayStats(): readonly DayStats[] | undefined {
  const { dayMs, optionsOf } = useStatsOptions();
  const endpoints = useEndpoints();
  const ids = [...(endpoints?.keys() ?? [])];
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ["stats", ids],
    enabled: endpoints !== undefined,
    queryFn: async () => {
      const read = ids.map(async (id) => [id, await client.fetchQuery(optionsOf(id))] as const);
      return Object.fromEntries(await Promise.all(read));
    },
    refetchInterval: unlessRefused(READ_AGAIN_MS),
    // While a new endpoint's statistics load, the other endpoints must stay, with their open dialogs.
    placeholderData: keepPreviousData,
  });
  return (
    data &&
    [...(endpoints?.values() ?? [])].map((endpoint) => {
      const hours = data[endpoint.id]?.hours ?? [];
      const { delivered } = sumOf(hours, dayMs);
      return { endpoint, delivered, health: healthOf(hours, dayMs) };
    })
  );
}

/** Returns the number of endpoints that are on and fail. */
export function useFailing(): number {
  const stats = useDayStats() ?? [];
  return stats.filter(({ endpoint, health }) => endpoint.switchedOn && health === "bad").length;
}

/**
 * Returns the start of the last day, in milliseconds since 1970. It changes once an hour, so that queries stay the same
 * for an hour.
 */
export function dayStartMs(): number {
  return thisHourMs() - (DAY_HOURS - 1) * HOUR_MS;
}

function monthStartMs(): number {
  return thisHourMs() - (MONTH_DAYS * DAY_HOURS - 1) * HOUR_MS;
}

function thisHourMs(): number {
  return Math.floor(nowMs() / HOUR_MS) * HOUR_MS;
}

function useStatsOptions() {
  const client = createClient(EndpointService, useTransport());
  const optionsOf = (endpointId: string) => ({
    // The key leaves out `since`, which changes each hour: with it, an outage would remove the statistics at the next
    // hour.
    queryKey: ["endpointStats", endpointId],
    queryFn: () => client.getEndpointStats({ endpointId, since: timestampFromMs(monthStartMs()) }),
    refetchInterval: unlessRefused(READ_AGAIN_MS),
  });
  return { dayMs: dayStartMs(), optionsOf };
}
