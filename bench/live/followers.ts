import { setTimeout as wait } from "node:timers/promises";
import { clientAddressOf } from "../data/bench-accounts.ts";
import { HttpConnection } from "../load/http-connection.ts";

/** How a tool gets a record: by a poll that waits, or by one every five seconds. */
export const FOLLOWING = ["wait", "poll"] as const;
export type Following = (typeof FOLLOWING)[number];

/** A gateway's port, each account's API key, and the way to follow. */
type FollowedFeeds = {
  readonly port: number;
  readonly apiKeys: readonly string[];
  readonly how: Following;
};

type Page = { data: { id: string }[]; pagination: { next_cursor: string | null } };

/** The interval of polls that do not wait. §4.4.2 */
const POLL_MS = 5_000;
const OK = 200;

/** Starts a follower for each API key, within `spreadMs`. Calls `onRecord` with its index for each record. §4.4 */
export function startFollowers(
  { port, apiKeys, how }: FollowedFeeds,
  spreadMs: number,
  onRecord: (place: number) => void,
) {
  let requests = 0;
  let hasStopped = false;
  const connections: HttpConnection[] = [];

  async function follow(apiKey: string, place: number): Promise<void> {
    await wait(Math.random() * spreadMs);
    if (hasStopped) return;
    const connection = new HttpConnection(port);
    connections.push(connection);
    for (let cursor = ""; !hasStopped; ) {
      const { status, body } = await connection.send(requestFor(apiKey, place, how, cursor));
      if (status !== OK) throw new Error(`a follower was answered ${status}`);
      requests += 1;
      const { data, pagination } = JSON.parse(body.toString()) as Page;
      for (const _ of data) onRecord(place);
      if (pagination.next_cursor !== null)
        cursor = `&cursor=${encodeURIComponent(pagination.next_cursor)}`;
      if (how === "poll" && data.length === 0) await wait(POLL_MS);
    }
  }

  let failure: unknown;
  for (const [place, apiKey] of apiKeys.entries()) {
    void follow(apiKey, place).catch((error) => {
      if (!hasStopped) failure ??= error;
    });
  }
  return {
    /** The number of answered requests. */
    requests: () => requests,
    stop(): void {
      hasStopped = true;
      for (const connection of connections) connection.close();
      if (failure !== undefined) throw failure;
    },
  };
}

/** Encodes a request for a page. Each `place` has its own client address. */
function requestFor(apiKey: string, place: number, how: Following, cursor: string): Buffer {
  const prefer = how === "wait" ? "Prefer: wait=10\r\n" : "";
  return Buffer.from(
    `GET /api/v1/activity?order=asc${cursor} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: ${clientAddressOf(place)}\r\n` +
      `Authorization: Bearer ${apiKey}\r\n${prefer}\r\n`,
  );
}

/** Sends `count` plain polls one after the other. Returns the duration of each. */
export async function pollInTurn(
  { port, apiKeys }: FollowedFeeds,
  count: number,
): Promise<number[]> {
  const connection = new HttpConnection(port);
  const took: number[] = [];
  for (let place = 0; place < count; place++) {
    const apiKey = apiKeys[place % apiKeys.length] ?? "";
    const startedMs = performance.now();
    // No follower sends from these addresses, so the polls do not use up a follower's limit.
    const { status } = await connection.send(requestFor(apiKey, 0xff0000 + place, "poll", ""));
    if (status !== OK) throw new Error(`a poll was answered ${status}`);
    took.push(performance.now() - startedMs);
  }
  connection.close();
  return took;
}
