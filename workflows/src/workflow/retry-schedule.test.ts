import { expect, it } from "vitest";
import { delayAfterMs, MAX_ATTEMPTS, retryInMs } from "../attempt/retry-schedule.ts";
import { recordAgainAfterMs, rescheduleAfterMs } from "./reschedule.ts";

it("waits 1 m, 5 m, 15 m, 1 h, 3 h, 6 h and 12 h, and makes eight attempts. §6.4", () => {
  const minutes = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => delayAfterMs(index + 1));
  expect(minutes.map((ms = 0) => ms / 60_000)).toEqual([1, 5, 15, 60, 180, 360, 720]);
  expect(MAX_ATTEMPTS).toBe(8);
  expect(delayAfterMs(MAX_ATTEMPTS)).toBeUndefined();
});

it("waits at most a day: the core refuses a record with a longer `retry_in`. §6.4", () => {
  const delays = Array.from({ length: MAX_ATTEMPTS }, (_, index) => delayAfterMs(index + 1) ?? 0);
  expect(Math.max(...delays)).toBeLessThanOrEqual(86_400_000);
});

it("waits for the rest since the attempt's end, and at most the whole wait when the clock went back. §6.4", () => {
  const endedAtMs = 1_000_000;
  const left = (attempt: number, later: number) =>
    retryInMs(attempt, endedAtMs, endedAtMs + later, 0);
  expect([0, 20_000, 60_000, 90_000].map((later) => left(1, later))).toEqual([
    60_000, 40_000, 0, 0,
  ]);
  expect(left(2, -3_600_000)).toBe(300_000);
  expect(left(MAX_ATTEMPTS, 0)).toBe(0);
});

it("waits as long as the database says, but at most the whole wait or 15 minutes when its clock went back. §6.4", () => {
  const HOUR_MS = 3_600_000;
  const left = (attempt: number, storedMs: number) => retryInMs(attempt, 0, 60_000, storedMs);
  expect([0, 90_000, HOUR_MS].map((storedMs) => left(1, storedMs))).toEqual([0, 90_000, 900_000]);
  expect([0, 9 * HOUR_MS].map((storedMs) => left(5, storedMs))).toEqual([
    3 * HOUR_MS - 60_000,
    3 * HOUR_MS,
  ]);
});

it("doubles the wait up to 15 minutes, and spreads it", () => {
  expect([1, 2, 3].map((times) => rescheduleAfterMs(times, 1))).toEqual([20_000, 40_000, 80_000]);
  expect([1, 2, 3].map((times) => rescheduleAfterMs(times, 0))).toEqual([10_000, 20_000, 40_000]);
  expect(rescheduleAfterMs(50, 1)).toBe(15 * 60_000);
});

it("records a made attempt again within ten seconds, after any number of failures", () => {
  expect([0, 0.5, 1].map(recordAgainAfterMs)).toEqual([5_000, 7_500, 10_000]);
});
