import { DeliveryService, DeliveryState, SessionScope } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { dayStartMs } from "../endpoints/use-stats.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";

const READ_AGAIN_MS = 10_000;
/** The most deliveries of a page: a larger number is written as `100+`. */
const pageSize = 100;

/** Reads the deliveries of the last day in a state: a page of them, and how many there are. */
export function useDayDeliveries(state: DeliveryState) {
  const enabled = useMay(SessionScope.DELIVERIES_READ);
  const { data } = useQuery(
    DeliveryService.method.listDeliveries,
    { state, since: timestampFromMs(dayStartMs()), pageSize },
    { enabled, refetchInterval: READ_AGAIN_MS },
  );
  const deliveries = data?.deliveries ?? [];
  return { isRead: data !== undefined, deliveries, isAll: data?.nextPageToken === "" };
}

/** Reads what failed on the last day for good. */
export const useDayFailed = () => useDayDeliveries(DeliveryState.FAILED);

/** Writes a count of which only a page was read. */
export function countText(count: number, isAll: boolean): string {
  return isAll ? String(count) : texts.overview.atLeast(count);
}
