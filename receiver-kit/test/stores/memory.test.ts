import { expect, it } from "vitest";
import { createLeaseStore } from "../../src/index.ts";
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
  // Deletion is by chance. The probability of none within a thousand events is about one in seven million.
  expect(await claims.deleteExpired(10_000)).toBeLessThan(1_000);
});
