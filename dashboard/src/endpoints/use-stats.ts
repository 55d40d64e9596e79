import { EndpointService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { nowMs } from "../common/clock.ts";
import { HOUR_MS } from "./hours.ts";

export const DAY_HOURS = 24;
export const MONTH_DAYS = 30;
const READ_AGAIN_MS = 30_000;

/** Reads an endpoint's hours of the last 30 days, and when the day and the month of them began. */
export function useStats(endpointId: string) {
  // To the hour, so that it stays the same question for an hour.
  const thisHourMs = Math.floor(nowMs() / HOUR_MS) * HOUR_MS;
  const dayMs = thisHourMs - (DAY_HOURS - 1) * HOUR_MS;
  const monthMs = thisHourMs - (MONTH_DAYS * DAY_HOURS - 1) * HOUR_MS;
  const query = useQuery(
    EndpointService.method.getEndpointStats,
    { endpointId, since: timestampFromMs(monthMs) },
    { refetchInterval: READ_AGAIN_MS },
  );
  return { query, dayMs, monthMs };
}
