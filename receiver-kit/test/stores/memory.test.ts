import { expect, it, onTestFinished, vi } from "vitest";
import { createLeaseStore, handleOnce, type WebhookEvent } from "../../src/index.ts";
import { createMemoryClaims, createMemoryStore } from "../../src/stores/memory/index.ts";
import { describeStore } from "./conformance.ts";

describeStore("memory", {
  async open() {
    const claims = createMemoryClaims(Date.now);
    return {
      claims,
      createStore: (options) => createLeaseStore(claims, options),
      close: async () => {},
    };
  },
  url: () => undefined,
});

it("forgets a handled id after thirty days by its clock, and not before", async () => {
  let nowMs = 0;
  const store = createMemoryStore({ clock: () => nowMs });
  await store.runOnce("wev_1", async () => {});
  nowMs = 30 * 24 * 3600 * 1000 - 1;
  expect(await store.runOnce("wev_1", async () => {})).toBe("seen_before");
  nowMs += 1;
  expect(await store.runOnce("wev_1", async () => {})).toBe("handled");
});

it("deletes expired ids by itself, so that it does not grow for ever", async () => {
  let nowMs = 0;
  const claims = createMemoryClaims(() => nowMs);
  const store = createLeaseStore(claims, { keepSeconds: 1 });
  for (let index = 0; index < 3_000; index++) {
    nowMs += 100;
    await store.runOnce(`wev_${index}`, async () => {});
  }
  nowMs += 10_000;
  // Deletion is by chance. The probability that a thousand events cause none is about one in seven million.
  const left = await claims.deleteExpired(10_000);
  expect(left).toBeLessThan(1_000);
  // The last ids expired after the last event, so no clean-up has deleted them.
  expect(left).toBeGreaterThan(0);
});

it("makes no event stale by one of another type, which has other fields", async () => {
  const store = createMemoryStore();
  const stale: boolean[] = [];
  const come = async (type: string, time: string) => {
    const data = { id: "0123456789abcde" };
    const event = { id: `wev_${type}${time}`, type, created_at: time, test: false, data };
    // The event has only the fields that the store reads.
    await handleOnce(store, event as WebhookEvent, (_, context) => void stale.push(context.stale));
  };
  await come("donation.chargeback", "2026-01-01T00:00:02Z");
  await come("donation.refunded", "2026-01-01T00:00:01Z");
  await come("donation.refunded", "2026-01-01T00:00:00Z");
  expect(stale).toEqual([false, false, true]);
});

const TIMES = ["before", "after"];
it.each(TIMES)("repeats no finished work if a connection is lost %s the mark", async (when) => {
  const claims = createMemoryClaims(Date.now);
  const fails = new Set(["keepNewest", "complete"]);
  const once = async <Result>(name: string, run: () => Promise<Result>): Promise<Result> => {
    if (!isDone || !fails.delete(name)) return run();
    if (when === "after") await run();
    throw new Error("connection lost");
  };
  let isDone = false;
  const store = createLeaseStore({
    ...claims,
    keepNewest: (...given) => once("keepNewest", () => claims.keepNewest(...given)),
    complete: (...given) => once("complete", () => claims.complete(...given)),
  });
  const work = async () => {
    expect(isDone).toBe(false);
    isDone = true;
  };
  const of = { record: "record 1", time: "2026-01-01T00:00:00Z" };
  expect(await store.runOnce("wev_1", work, of)).toBe("handled");
  expect(await store.runOnce("wev_1", work, of)).toBe("seen_before");
});

it("stops renewing when the work ends, and rejects with the work's error even if the release fails", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const release = () => Promise.reject(new Error("away"));
  const store = createLeaseStore({ ...createMemoryClaims(Date.now), release });
  expect(await store.runOnce("wev_1", async () => {})).toBe("handled");
  expect(vi.getTimerCount()).toBe(0);
  const failure = new Error("the work failed");
  await expect(store.runOnce("wev_2", () => Promise.reject(failure))).rejects.toBe(failure);
  expect(vi.getTimerCount()).toBe(0);
});
