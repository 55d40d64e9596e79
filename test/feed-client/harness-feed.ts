import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Activity, type Fetch, type Follower, follow } from "../../feed/src/index.ts";
import type { TestStack } from "../harness/stack.ts";

export const FIRST = "2000-01-01T00:00:00Z";
/** The client keeps a second between requests that are woken. */
const WAKE_EVERY_MS = 250;

export const baseUrlOf = (port: number) => `http://127.0.0.1:${port}/api/v1`;

/** What every call of the client takes, for a stack's product and a key. */
export const connectionTo = (stack: TestStack, apiKey: string) => ({
  ...{ apiKey, baseUrl: baseUrlOf(stack.gatewayPort), since: FIRST },
});

/** A `fetch` of its own, so that its followers share with no others, which counts requests. */
export function countingFetch(): Fetch & { readonly urls: string[] } {
  const urls: string[] = [];
  const counted: Fetch = (url, request) => {
    urls.push(url);
    return fetch(url, request);
  };
  return Object.assign(counted, { urls });
}

/** Reads so many records, and wakes the follower meanwhile as a webhook would. */
export async function take(follower: Follower, count: number): Promise<Activity[]> {
  const waking = setInterval(() => follower.wake(), WAKE_EVERY_MS);
  const taken: Activity[] = [];
  try {
    while (taken.length < count) {
      const { value, done } = await follower.next();
      if (done) throw new Error(`it ended after ${taken.length} records`);
      taken.push(value);
    }
    return taken;
  } finally {
    clearInterval(waking);
  }
}

/** Follows for so many records, then ends as a program does that is stopped between two. */
export async function followFor(
  options: Parameters<typeof follow>[0],
  count: number,
): Promise<Activity[]> {
  const stopped = new AbortController();
  const follower = follow({ ...options, signal: stopped.signal });
  const taken = await take(follower, count);
  stopped.abort();
  await follower.next();
  return taken;
}

/** A port that leads to a gateway, to another one later, or to none. */
export async function openDoor(port: number) {
  let target: number | undefined = port;
  const open = new Set<Socket>();
  const door = createServer((client) => {
    if (target === undefined) return client.destroy();
    const gateway = connect(target, "127.0.0.1");
    for (const socket of [client, gateway]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    client.pipe(gateway).pipe(client);
  });
  await once(door.listen(0, "127.0.0.1"), "listening");
  const leadTo = (next: number | undefined) => {
    target = next;
    for (const socket of open) socket.destroy();
  };
  return {
    port: (door.address() as AddressInfo).port, // It listens on TCP.
    leadTo,
    close() {
      leadTo(undefined);
      door.close();
    },
  };
}
