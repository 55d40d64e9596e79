import { expect, it } from "vitest";
import { summarize } from "./write-case.ts";

it("counts from the first call's beginning to the last arrival", () => {
  const arrived = { firstMs: { "r-0": 1_010, "r-1": 1_030, "r-2": 1_500 }, again: 0 };
  expect(summarize("r-", [1_000, 1_010, 1_020], arrived)).toEqual({
    ...{ perSecond: 6, p50Ms: 20, p99Ms: 480, lost: 0, again: 0 },
  });
});

it("counts missing events as lost, and excludes them from rates", () => {
  const arrived = { firstMs: { "r-1": 1_200 }, again: 3 };
  expect(summarize("r-", [1_000, 1_100, 1_150], arrived)).toEqual({
    ...{ perSecond: 5, p50Ms: 100, p99Ms: 100, lost: 2, again: 3 },
  });
});
