import { expect, it } from "vitest";
import { delayAfterMs } from "./retry-schedule.ts";

it("waits 1 m, 5 m, 15 m, 1 h, 3 h, 6 h and 12 h, and allows eight attempts", () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => {
    const delay = delayAfterMs(attempt);
    return delay && delay / 60_000;
  });
  expect(minutes).toEqual([1, 5, 15, 60, 180, 360, 720, undefined, undefined]);
});
