import { EndpointHourSchema } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { HOUR_MS, healthOf, percentileMs, spansOf, sumOf } from "./hours.ts";

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
  expect(sumOf(HOURS, 0)).toMatchObject({
    delivered: 13,
    failed: 7,
    rate: 0.65,
    meanMs: 2_575,
    longestMs: 10_000,
  });
  expect(sumOf(HOURS, 2 * HOUR_MS)).toMatchObject({ delivered: 5, failed: 5, rate: 0.5 });
});

it("has no rate and no percentile where there was no attempt", () => {
  const sum = sumOf([], 0);
  expect(sum).toMatchObject({ delivered: 0, failed: 0, rate: undefined, meanMs: 0, longestMs: 0 });
  expect(percentileMs(sum, [10, 25], 0.5)).toBeUndefined();
});

it("counts failures by class, and those of no known class as others", () => {
  const failures = { redirects: 1n, clientErrors: 2n, serverErrors: 3n, unanswered: 4n };
  const hours = [{ ...hour(1, 5, 12, 0), ...failures }, hour(2, 0, 3, 0)];
  expect(sumOf(hours, 0).counts).toEqual({
    ...{ delivered: 5, redirects: 1, clientErrors: 2, serverErrors: 3, unanswered: 4, other: 5 },
  });
});

it("tells about how long a share of the attempts took at most, by the range that it falls into", () => {
  const boundsMs = [10, 100, 1_000];
  const hours = [
    { ...hour(1, 60, 0, 0, 8), durations: [60n, 0n, 0n, 0n] },
    { ...hour(2, 40, 0, 0, 3_000), durations: [0n, 30n, 0n, 10n] },
  ];
  const sum = sumOf(hours, 0);
  expect(percentileMs(sum, boundsMs, 0.3)).toBe(5);
  expect(percentileMs(sum, boundsMs, 0.75)).toBe(55);
  expect(percentileMs(sum, boundsMs, 0.9)).toBe(100);
  expect(percentileMs(sum, boundsMs, 0.95)).toBe(2_000);
  expect(percentileMs(sum, boundsMs, 1)).toBe(3_000);
  // The longest duration is known exactly.
  expect(percentileMs(sumOf(hours.slice(0, 1), 0), boundsMs, 1)).toBe(8);
});

it("tells the health of an endpoint by its newest hour with attempts", () => {
  expect(healthOf(HOURS, 0)).toBe("bad");
  expect(healthOf(HOURS.slice(0, 2), 0)).toBe("good");
  expect(healthOf(HOURS.slice(0, 1), 0)).toBe("warn");
  expect(healthOf(HOURS, 5 * HOUR_MS)).toBeUndefined();
  expect(healthOf([], 0)).toBeUndefined();
});

it("counts into equal spans, includes empty ones, and ignores hours outside the range", () => {
  expect(spansOf(HOURS, 2 * HOUR_MS, HOUR_MS, 2)).toMatchObject([
    { beginMs: 2 * HOUR_MS, delivered: 0, other: 0 },
    { beginMs: 3 * HOUR_MS, delivered: 5, other: 0 },
  ]);
  expect(spansOf(HOURS, 0, 4 * HOUR_MS, 2)).toMatchObject([
    { delivered: 13, other: 2 },
    { delivered: 0, other: 5 },
  ]);
});
