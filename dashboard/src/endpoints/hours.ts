import type { EndpointHour } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { durationMs } from "../common/duration-text.ts";

export const HOUR_MS = 3_600_000;

/** What the attempts of a span of time came to. */
export type Sum = {
  readonly delivered: number;
  readonly failed: number;
  /** Of those that were delivered, 0 to 1; `undefined` without an attempt. */
  readonly rate: number | undefined;
  readonly meanMs: number;
  readonly longestMs: number;
};

/** Adds up the hours that began at `fromMs` or later. */
export function sumOf(hours: readonly EndpointHour[], fromMs: number): Sum {
  let delivered = 0;
  let failed = 0;
  let totalMs = 0;
  let longestMs = 0;
  for (const hour of hours) {
    if (startMs(hour) < fromMs) continue;
    delivered += Number(hour.delivered);
    failed += Number(hour.failed);
    totalMs += durationMs(hour.totalDuration);
    longestMs = Math.max(longestMs, durationMs(hour.longestDuration));
  }
  const attempts = delivered + failed;
  const rate = attempts === 0 ? undefined : delivered / attempts;
  return { delivered, failed, rate, meanMs: attempts === 0 ? 0 : totalMs / attempts, longestMs };
}

/**
 * Tells how the newest hour with attempts went, from `fromMs` on: `good` when all were delivered, `bad` when none was,
 * else `warn`; `undefined` without an attempt. An older hour says nothing of an endpoint that was mended.
 */
export function healthOf(
  hours: readonly EndpointHour[],
  fromMs: number,
): "good" | "warn" | "bad" | undefined {
  const newest = hours.at(-1);
  if (newest === undefined || startMs(newest) < fromMs) return undefined;
  if (newest.failed === 0n) return "good";
  return newest.delivered === 0n ? "bad" : "warn";
}

/** The attempts of equal spans one after another. */
export type Spans = {
  /** When each began, in seconds since 1970. */
  readonly begins: number[];
  readonly all: number[];
  readonly failed: number[];
};

/** Counts hours into `count` spans of `spanMs` from `fromMs` on, also where nothing happened. */
export function spansOf(
  hours: readonly EndpointHour[],
  fromMs: number,
  spanMs: number,
  count: number,
): Spans {
  const begins = Array.from({ length: count }, (_, index) => (fromMs + index * spanMs) / 1_000);
  const all = begins.map(() => 0);
  const failed = begins.map(() => 0);
  for (const hour of hours) {
    const index = Math.floor((startMs(hour) - fromMs) / spanMs);
    if (all[index] === undefined) continue;
    all[index] += Number(hour.delivered) + Number(hour.failed);
    failed[index] = (failed[index] ?? 0) + Number(hour.failed);
  }
  return { begins, all, failed };
}

function startMs({ beganAt }: EndpointHour): number {
  return beganAt === undefined ? 0 : timestampMs(beganAt);
}
