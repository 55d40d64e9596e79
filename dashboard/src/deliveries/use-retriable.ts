import { DeliveryService } from "@activity/proto";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { timestampFromLocal } from "../common/local-time.ts";
import { RETRIED } from "./retry-delivery.tsx";

/** The most deliveries of a page. */
const pageSize = 100;

/** Counts what a bulk retry would begin: up to a page of each state, and whether that is all. */
export function useRetriable(endpointId: string, since: string, until: string) {
  const deliveries = createClient(DeliveryService, useTransport());
  const from = timestampFromLocal(since);
  return useQuery({
    queryKey: ["retriable", endpointId, since, until],
    enabled: endpointId !== "" && from !== undefined,
    queryFn: async () => {
      const range = { endpointId, since: from, until: timestampFromLocal(until), pageSize };
      const pages = await Promise.all(
        RETRIED.map((state) => deliveries.listDeliveries({ ...range, state })),
      );
      return {
        count: pages.reduce((sum, page) => sum + page.deliveries.length, 0),
        isAll: pages.every(({ nextPageToken }) => nextPageToken === ""),
      };
    },
  });
}
