import { expect, it } from "vitest";
import { createAttemptPlaces, type PlaceAnswer } from "./attempt-places.ts";

/** Places with a clock that stands still unless it is moved. */
function placesAt(startMs = 0) {
  const clock = { nowMs: startMs };
  const places = createAttemptPlaces(() => clock.nowMs);
  const take = (count: number, endpointId = "a") =>
    Array.from({ length: count }, () => places.take(endpointId));
  return { clock, take, endpointCount: places.endpointCount };
}
const waitsOf = (answers: readonly PlaceAnswer[]) =>
  answers.flatMap((answer) => (answer.kind === "full" ? [answer.askAgainInMs] : []));
const leaveAll = (answers: readonly PlaceAnswer[]) => {
  for (const answer of answers) if (answer.kind === "taken") answer.leave();
};

it("lets sixteen at an endpoint be under way, and as many at another", () => {
  const { take } = placesAt();
  expect(waitsOf(take(16))).toEqual([]);
  expect(waitsOf(take(1))).toHaveLength(1);
  expect(waitsOf(take(16, "b"))).toEqual([]);
});

it("gives a place to the next when one has left", () => {
  const { take } = placesAt();
  const [first] = take(16);
  leaveAll(first ? [first] : []);
  expect(waitsOf(take(1))).toEqual([]);
});

it("lets those who wait come back one by one, at the pace of an endpoint that hangs", () => {
  const waits = waitsOf(placesAt().take(16 + 2_000));
  expect(waits[0]).toBe(1_625);
  expect(waits[1_599]).toBe(1_001_000);
  expect(new Set(waits).size).toBe(2_000);
});

it("lets them come back faster once attempts have ended faster", () => {
  const { clock, take } = placesAt();
  const taken = take(16);
  clock.nowMs = 160;
  leaveAll(taken.slice(0, 1));
  expect(waitsOf(take(3))).toEqual([1_010, 1_020]);
});

it("lets nobody wait longer than about an hour, however long the line", () => {
  const waits = waitsOf(placesAt().take(16 + 20_000));
  expect(Math.max(...waits)).toBeLessThanOrEqual(3_601_000);
  expect(Math.min(...waits.slice(10_000))).toBeLessThan(2_000);
});

it("leaves half of the worker to first attempts, whatever the number of endpoints", () => {
  const { take } = placesAt();
  const answers = Array.from({ length: 100 }, (_, endpoint) => take(16, `e${endpoint}`)).flat();
  expect(answers.filter(({ kind }) => kind === "taken")).toHaveLength(1_000);
  leaveAll(answers);
  expect(waitsOf(take(16))).toEqual([]);
});

it("forgets endpoints that found all places taken and whose time in line has passed", () => {
  const { clock, take, endpointCount } = placesAt();
  for (let endpoint = 0; endpoint < 100; endpoint++) take(16, `busy${endpoint}`);
  for (let endpoint = 0; endpoint < 50_000; endpoint++) {
    clock.nowMs += 10;
    expect(waitsOf(take(1, `refused${endpoint}`))).toEqual([1_625]);
  }
  expect(endpointCount()).toBeLessThan(1_000);
});
