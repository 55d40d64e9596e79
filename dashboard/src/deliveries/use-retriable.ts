import { DeliveryService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { timestampFromLocal } from "../common/local-time.ts";
import type { Chosen } from "./use-bulk-retry.ts";

const FAR_AHEAD = timestampFromMs(Date.UTC(2080, 0));

/**
 * Counts the deliveries that a bulk retry would begin. An empty `until` means now. The query then sends a time far
 * ahead, so that it stays the same.
 */
export function useRetriable(chosen: Chosen, since: string, until: string) {
  const from = timestampFromLocal(since);
  const { data, error } = useQuery(
    DeliveryService.method.countRetriableDeliveries,
    {
      ...{ ...chosen, until: timestampFromLocal(until) ?? FAR_AHEAD },
      ...(from && { since: from }),
    },
    { enabled: from !== undefined },
  );
  return { error, count: data && Number(data.count), isAll: data?.hasMore === false };
}
