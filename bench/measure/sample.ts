const NS_PER_MS = 1e6;

/** The result of a load. */
export type Sample = {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** Summarizes durations since a moment of the shared clock. */
export function sampleSince(startedMs: number, durationsMs: readonly number[]): Sample {
  const count = durationsMs.length;
  return { count, perSecond: count / secondsSince(startedMs), ...quantiles(durationsMs) };
}

/** Returns the median and the 99th percentile. */
export function quantiles(values: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = Float64Array.from(values).sort();
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

/** Returns the value that a share of the sorted values does not exceed. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** Returns milliseconds on a monotonic clock that all processes of this machine share. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / NS_PER_MS;
}

/** Returns the seconds since a moment of the shared clock. */
export function secondsSince(startedMs: number): number {
  return (sharedNowMs() - startedMs) / 1_000;
}
