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

it("ADR 0052: a client at its limit gets no further wait, for any account, until one ends", () => {
  const waits = createFeedWaits(createUpstream(createRouterCore().transport), {
    ...{ waitingByAccount: 9, waitingByClient: 1 },
  });
  const begin = (accountId: string, clientAddress: string) => {
    const { signal } = new AbortController();
    const receivedMs = performance.now();
    return waits.begin({ accountId, clientAddress, receivedMs, seconds: 9, signal });
  };
  const first = begin("a", "192.0.2.1");
  expect(begin("b", "192.0.2.1")).toBeUndefined();
  expect(begin("a", "192.0.2.2")).toBeDefined();
  first?.end();
  expect(begin("b", "192.0.2.1")).toBeDefined();
  waits.close();
});
