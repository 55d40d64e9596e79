import { once } from "node:events";
import { FeedChangeService } from "@activity/proto";
import { createRouterTransport } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFeedWaits } from "./feed-waits.ts";
import { createRouterCore } from "./testing/router-core.ts";
import { createUpstream } from "./upstream.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("ADR 0052: a wait ends up to 500 ms early and never late, whenever the first one began", async () => {
  const waits = createFeedWaits(createUpstream(createRouterCore().transport), {
    ...{ waitingByAccount: 9, waitingByClient: 9 },
  });
  const endedMs: number[] = [];
  for (const seconds of [3, 1, 2]) {
    await vi.advanceTimersByTimeAsync(370);
    const receivedMs = performance.now();
    // The core's first answer takes this long.
    await vi.advanceTimersByTimeAsync(500);
    const { signal } = new AbortController();
    const request = { accountId: "a", clientAddress: "192.0.2.1", receivedMs, seconds, signal };
    const wait = waits.begin(request);
    void wait?.changedAfter(1n).then(() => {
      endedMs.push(seconds * 1_000 - (performance.now() - receivedMs));
    });
  }
  await vi.advanceTimersByTimeAsync(4_000);
  expect(endedMs).toHaveLength(3);
  for (const earlyMs of endedMs) {
    expect(earlyMs).toBeGreaterThanOrEqual(0);
    expect(earlyMs).toBeLessThanOrEqual(500);
  }
  waits.close();
});

it("ADR 0052: a stream that ended, or was silent for two seconds, is followed by another", async () => {
  let streams = 0;
  const transport = createRouterTransport(({ rpc }) => {
    rpc(FeedChangeService.method.watchFeeds, async function* (_, { signal }) {
      streams += 1;
      if (streams === 1) return;
      if (streams === 3) yield { feeds: [{ accountId: "a", version: 2n }] };
      await once(signal, "abort");
    });
  });
  const waits = createFeedWaits(createUpstream(transport), {
    ...{ waitingByAccount: 9, waitingByClient: 9 },
  });
  const request = { accountId: "a", clientAddress: "192.0.2.1", receivedMs: performance.now() };
  const { signal } = new AbortController();
  const changed = waits.begin({ ...request, seconds: 9, signal })?.changedAfter(1n);
  // Polls in real time, because the pause before the next stream is not faked.
  await expect.poll(() => streams).toBe(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await changed).toBe(true);
  waits.close();
});

it("ADR 0052: a client at its limit gets no further wait, for any account, until one ends or its client leaves", () => {
  const waits = createFeedWaits(createUpstream(createRouterCore().transport), {
    ...{ waitingByAccount: 9, waitingByClient: 1 },
  });
  const { signal: stays } = new AbortController();
  const begin = (accountId: string, clientAddress: string, signal = stays) => {
    const receivedMs = performance.now();
    return waits.begin({ accountId, clientAddress, receivedMs, seconds: 9, signal });
  };
  const first = begin("a", "192.0.2.1");
  expect(begin("b", "192.0.2.1")).toBeUndefined();
  expect(begin("a", "192.0.2.2")).toBeDefined();
  first?.end();
  const leaving = new AbortController();
  expect(begin("b", "192.0.2.1", leaving.signal)).toBeDefined();
  leaving.abort();
  expect(begin("b", "192.0.2.1")).toBeDefined();
  waits.close();
});
