import { expect, it } from "vitest";
import { createWaits, writePaced } from "./paced-writes.ts";

it("counts a wait from the moment when its write was due, however late the write is", async () => {
  const begun: number[] = [];
  const write = async () => {
    const untilMs = performance.now() + 25;
    while (performance.now() < untilMs);
  };
  const begin = (_: number, atMs: number) => void begun.push(atMs);
  await writePaced([0, 1, 2], 100, { write, begin });
  expect(begun.map((atMs) => Math.round(atMs - (begun[0] ?? 0)))).toEqual([0, 10, 20]);
});

it("fails when a record has not reached its follower", () => {
  const waits = createWaits();
  waits.begin(0, 100);
  waits.begin(1, 150);
  waits.end(1, 160);
  expect(() => waits.all(2)).toThrow("1 of 2 records were lost");
  waits.end(0, 170);
  expect(waits.all(2)).toEqual([10, 70]);
});

it("counts no record that was written before the measurement", () => {
  const waits = createWaits();
  waits.end(0, 170);
  expect(waits.all(0)).toEqual([]);
});
