import { type ConnectionOptions, parseConnection } from "./connection.ts";
import type { Me } from "./contract.ts";
import { request } from "./request.ts";

const MAX_FAILURES = 5;

/**
 * Reads whose key it is and when it ends. §4.1
 *
 * Rejects with a `FeedError`, after five failures in a row with `unavailable`, and with the signal's
 * reason when that aborts.
 */
export async function me(options: ConnectionOptions): Promise<Me> {
  const connection = parseConnection(options);
  const { signal, onWait } = options;
  const rules = { signal, onWait, maxFailures: MAX_FAILURES };
  const { body } = await request<{ data: Me }>(connection, { path: "/me" }, rules);
  return body.data;
}
