import { DeliveryService, type DeliveryState, SessionScope } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { dayStartMs } from "../endpoints/use-stats.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";

export const READ_AGAIN_MS = 10_000;
/** The size of the one page that is read. A larger number is shown as `100+`. */
export const pageSize = 100;

/** Reads one page of the last day's deliveries in a state. `isAll`: the page holds all of them. */
export function useDayDeliveries(state: DeliveryState) {
  const enabled = useMay(SessionScope.DELIVERIES_READ);
  const { data } = useQuery(
    DeliveryService.method.listDeliveries,
    { state, since: timestampFromMs(dayStartMs()), pageSize },
    // The query's start changes each hour. The previous data stays until the new data is read.
    { enabled, refetchInterval: READ_AGAIN_MS, placeholderData: keepPreviousData },
  );
  const deliveries = data?.deliveries ?? [];
  return { isRead: data !== undefined, deliveries, isAll: data?.nextPageToken === "" };
}

/** Formats a count. If not all were read, it is a minimum, such as `100+`. */
export function countText(count: number, isAll: boolean): string {
  return isAll ? String(count) : texts.overview.atLeast(count);
}
