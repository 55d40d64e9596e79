import { type ConnectionOptions, parseConnection } from "./connection.ts";
import type { Me } from "./contract.ts";
import { request } from "./request.ts";

const MAX_FAILURES = 5;

/**
 * Reads the key's account and the key's end. §4.1
 *
 * Rejects with a `FeedError`, with the code `unavailable` after five failures in a row. If `signal` aborts, rejects
 * with its reason.
 */
export async function me(options: ConnectionOptions): Promise<Me> {
  const connection = parseConnection(options);
  const { signal, onWait } = options;
  const rules = { signal, onWait, maxFailures: MAX_FAILURES };
  const { body } = await request<{ data: Me }>(connection, { path: "/me" }, rules);
  return body.data;
}
