import { EndpointHourSchema } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { HOUR_MS, healthOf, spansOf, sumOf } from "./hours.ts";

const hour = (index: number, delivered: number, failed: number, totalMs: number, longestMs = 0) =>
  create(EndpointHourSchema, {
    beganAt: timestampFromMs(index * HOUR_MS),
    delivered: BigInt(delivered),
    failed: BigInt(failed),
    totalDuration: durationFromMs(totalMs),
    longestDuration: durationFromMs(longestMs),
  });
const HOURS = [hour(1, 8, 2, 1_000, 900), hour(3, 5, 0, 500, 300), hour(4, 0, 5, 50_000, 10_000)];

it("adds up the hours from a moment on", () => {
  expect(sumOf(HOURS, 0)).toEqual({
    delivered: 13,
    failed: 7,
    rate: 0.65,
    meanMs: 2_575,
    longestMs: 10_000,
  });
  expect(sumOf(HOURS, 2 * HOUR_MS)).toMatchObject({ delivered: 5, failed: 5, rate: 0.5 });
});

it("has no rate where there was no attempt", () => {
  expect(sumOf([], 0)).toEqual({
    delivered: 0,
    failed: 0,
    rate: undefined,
    meanMs: 0,
    longestMs: 0,
  });
});

it("tells the health of an endpoint by its newest hour with attempts", () => {
  expect(healthOf(HOURS, 0)).toBe("bad");
  expect(healthOf(HOURS.slice(0, 2), 0)).toBe("good");
  expect(healthOf(HOURS.slice(0, 1), 0)).toBe("warn");
  expect(healthOf(HOURS, 5 * HOUR_MS)).toBeUndefined();
  expect(healthOf([], 0)).toBeUndefined();
});

it("counts into equal spans, empty ones included, and leaves out what is outside", () => {
  expect(spansOf(HOURS, 2 * HOUR_MS, HOUR_MS, 2)).toEqual({
    begins: [7_200, 10_800],
    all: [0, 5],
    failed: [0, 0],
  });
  expect(spansOf(HOURS, 0, 4 * HOUR_MS, 2)).toMatchObject({ all: [15, 5], failed: [2, 5] });
});
