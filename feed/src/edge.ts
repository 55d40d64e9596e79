import * as client from "./client.ts";

// The package's entry for edge runtimes: without files and without shared requests.
export { file } from "./checkpoint/no-file.ts";
export * from "./client.ts";

/**
 * Follows the feed as the main entry does, but shares no requests: in a worker, a request must not wait for work that
 * another request began.
 */
export function follow(options: client.FollowOptions): client.Follower {
  const { fetch: ownFetch = fetch } = options;
  // Only followers with the same `fetch` share requests, so each follower gets a new function.
  return client.follow({ ...options, fetch: (url, request) => ownFetch(url, request) });
}
