/** What one side did in one round, as its worker saw it. */
export type Sample = {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** Collects the durations of requests. */
export class Durations {
  readonly #milliseconds: number[] = [];

  add(milliseconds: number): void {
    this.#milliseconds.push(milliseconds);
  }

  /** Sums up what took `seconds` in all. */
  toSample(seconds: number): Sample {
    const sorted = Float64Array.from(this.#milliseconds).sort();
    return {
      requests: sorted.length,
      seconds,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
    };
  }
}

/** Returns the value that a share of the sorted values does not exceed. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Returns the middle of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}
