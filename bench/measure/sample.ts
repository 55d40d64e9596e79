const NS_PER_MS = 1e6;

/** What a load did. */
export type Sample = {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** Sums up durations of what has gone on since a moment of the shared clock. */
export function sampleSince(startedMs: number, durationsMs: readonly number[]): Sample {
  const count = durationsMs.length;
  return { count, perSecond: count / secondsSince(startedMs), ...quantiles(durationsMs) };
}

/** Returns the values that half and 99 of a hundred do not exceed. */
export function quantiles(values: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = Float64Array.from(values).sort();
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

/** Returns the value that a share of the sorted values does not exceed. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Returns the middle of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** Returns milliseconds on a clock that all processes of this machine share, and that nobody sets. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / NS_PER_MS;
}

/** Returns the seconds since a moment of the shared clock. */
export function secondsSince(startedMs: number): number {
  return (sharedNowMs() - startedMs) / 1_000;
}
