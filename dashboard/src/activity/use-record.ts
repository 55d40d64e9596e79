import { ActivityService } from "@activity/proto";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "wouter";
import { unlessRefused } from "../common/shown-data.ts";
import { momentOf } from "../record/record-address.ts";
import { findRecord } from "./find-record.ts";

/** How often the page of a record is read again. */
export const READ_AGAIN_MS = 5_000;

/** Reads a record at the moment in the page's address. `record` is `undefined` if the feed does not show it. */
export function useRecord(activityId: string) {
  const feed = createClient(ActivityService, useTransport());
  const [params] = useSearchParams();
  const at = params.get("at");
  return useQuery({
    queryKey: ["record", activityId, at],
    queryFn: async ({ signal }) => ({
      record: await findRecord(feed, activityId, momentOf(at), signal),
    }),
    refetchInterval: unlessRefused(READ_AGAIN_MS),
  });
}
