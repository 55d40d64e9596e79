import { DeliveryService } from "@activity/proto";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { timestampFromLocal } from "../common/local-time.ts";
import type { Chosen } from "./use-bulk-retry.ts";

const FAR_AHEAD = timestampFromMs(Date.UTC(2080, 0));

/**
 * Returns the end of a bulk retry's time range. An empty `until` means now. It becomes a time far ahead, because the
 * browser's clock may be slow.
 */
export function endOfRange(until: string): Timestamp {
  return timestampFromLocal(until) ?? FAR_AHEAD;
}

/** Counts the deliveries that a bulk retry would begin. */
export function useRetriable(chosen: Chosen, since: string, until: string) {
  const from = timestampFromLocal(since);
  const { data, error, failureReason } = useQuery(
    DeliveryService.method.countRetriableDeliveries,
    {
      ...{ ...chosen, until: endOfRange(until) },
      ...(from && { since: from }),
    },
    { enabled: from !== undefined },
  );
  return {
    // A passing failure is retried without end. The reader sees it meanwhile.
    error: error ?? failureReason,
    count: data && Number(data.count),
    isAll: data?.hasMore === false,
  };
}
