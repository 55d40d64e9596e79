import { expect, it } from "vitest";
import { loadWaitMs } from "./load-wait.ts";

it("waits twice as long each time, up to an hour, and no two attempts equally long", () => {
  const shortest = [1, 2, 3, 4, 5, 6, 7, 1_000].map((failed) => loadWaitMs(failed, 0) / 60_000);
  const longest = [1, 2, 3, 4, 5, 6, 7, 1_000].map((failed) => loadWaitMs(failed, 1) / 60_000);
  expect(shortest).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  expect(longest).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
});
