import type { EndpointHour } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { durationMs } from "../common/duration-text.ts";

export const HOUR_MS = 3_600_000;

/**
 * The classes of attempts: delivered, or failed by the class of the answer's status. `other` are failures without a
 * known class.
 */
export const CLASSES = [
  ...["delivered", "redirects", "clientErrors"],
  ...["serverErrors", "unanswered", "other"],
] as readonly (keyof Counts)[];
export type Counts = {
  readonly delivered: number;
  readonly redirects: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly unanswered: number;
  readonly other: number;
};
const NONE: Counts = {
  ...{ delivered: 0, redirects: 0, clientErrors: 0 },
  ...{ serverErrors: 0, unanswered: 0, other: 0 },
};

/** The totals of the attempts in a span of time. */
export type Sum = {
  readonly counts: Counts;
  readonly delivered: number;
  readonly failed: number;
  /** The share of delivered attempts, 0 to 1; `undefined` without attempts. */
  readonly rate: number | undefined;
  readonly meanMs: number;
  readonly longestMs: number;
  /** The number of attempts in each range of durations. The server chooses the ranges. */
  readonly durations: readonly number[];
};

/** Adds up the hours that began at `fromMs` or later. */
export function sumOf(hours: readonly EndpointHour[], fromMs: number): Sum {
  let counts = NONE;
  let totalMs = 0;
  let longestMs = 0;
  const durations: number[] = [];
  for (const hour of hours) {
    if (startMs(hour) < fromMs) continue;
    counts = plus(counts, hour);
    totalMs += durationMs(hour.totalDuration);
    longestMs = Math.max(longestMs, durationMs(hour.longestDuration));
    for (const [index, count] of hour.durations.entries()) {
      durations[index] = (durations[index] ?? 0) + Number(count);
    }
  }
  const { delivered } = counts;
  const attempts = countOf(counts);
  const rate = attempts === 0 ? undefined : delivered / attempts;
  const meanMs = attempts === 0 ? 0 : totalMs / attempts;
  return { counts, delivered, failed: attempts - delivered, rate, meanMs, longestMs, durations };
}

/**
 * Estimates the duration in milliseconds that a `share` of the attempts did not exceed. It interpolates within the
 * range that the share falls into. Returns `undefined` if no duration was counted.
 */
export function percentileMs(
  { durations, longestMs }: Pick<Sum, "durations" | "longestMs">,
  boundsMs: readonly number[],
  share: number,
): number | undefined {
  let left = durations.reduce((sum, count) => sum + count, 0) * share;
  for (const [index, count] of durations.entries()) {
    if (count > 0 && left <= count) {
      const from = boundsMs[index - 1] ?? 0;
      const to = Math.min(boundsMs[index] ?? longestMs, longestMs);
      return from + (to - from) * (left / count);
    }
    left -= count;
  }
  return undefined;
}

/**
 * Returns the health in the newest hour with attempts, from `fromMs` on. It is `good` if all were delivered, `bad` if
 * none was, otherwise `warn`. Returns `undefined` without attempts. Older hours do not count, because the endpoint may
 * be repaired.
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

/** The totals of one of several equal spans of time. */
export type Span = Counts & { readonly beginMs: number };

/** Sums hours into `count` spans of `spanMs` from `fromMs` on. Spans without attempts are included. */
export function spansOf(
  hours: readonly EndpointHour[],
  fromMs: number,
  spanMs: number,
  count: number,
): Span[] {
  return Array.from({ length: count }, (_, index) => {
    const beginMs = fromMs + index * spanMs;
    const within = hours.filter(
      (hour) => startMs(hour) >= beginMs && startMs(hour) < beginMs + spanMs,
    );
    return { ...within.reduce(plus, NONE), beginMs };
  });
}

/** Adds up all classes. */
export function countOf(counts: Counts): number {
  return CLASSES.reduce((sum, name) => sum + counts[name], 0);
}

function plus(counts: Counts, hour: EndpointHour): Counts {
  const redirects = Number(hour.redirects);
  const clientErrors = Number(hour.clientErrors);
  const serverErrors = Number(hour.serverErrors);
  const unanswered = Number(hour.unanswered);
  const known = redirects + clientErrors + serverErrors + unanswered;
  return {
    delivered: counts.delivered + Number(hour.delivered),
    redirects: counts.redirects + redirects,
    clientErrors: counts.clientErrors + clientErrors,
    serverErrors: counts.serverErrors + serverErrors,
    unanswered: counts.unanswered + unanswered,
    other: counts.other + Number(hour.failed) - known,
  };
}

function startMs({ beganAt }: EndpointHour): number {
  return beganAt === undefined ? 0 : timestampMs(beganAt);
}
