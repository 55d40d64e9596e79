import * as client from "./client.ts";

// The package's entry for edge runtimes: without files, and without what requests would share.
export { file } from "./checkpoint/no-file.ts";
export * from "./client.ts";

/**
 * As in the package's main entry, but for the shared requests: in a worker no request may wait for
 * what another one has begun.
 */
export function follow(options: client.FollowOptions): client.Follower {
  const { fetch: given = fetch } = options;
  // A function of its own for each follower: only those with the same share.
  return client.follow({ ...options, fetch: (url, request) => given(url, request) });
}
