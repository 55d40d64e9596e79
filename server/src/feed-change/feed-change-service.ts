import type { FeedChangeService } from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";
import type { FeedChanges } from "./feed-changes.ts";

export function createFeedChangeService(
  changes: FeedChanges,
): ServiceImpl<typeof FeedChangeService> {
  return {
    async *watchFeeds(_request, { signal }) {
      for await (const feeds of changes.watch(signal)) {
        yield {
          feeds: feeds.map(({ accountId, version }) => ({ accountId, version: BigInt(version) })),
        };
      }
    },
  };
}
