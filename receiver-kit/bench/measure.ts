const ROUND_MS = 60;
const CALLS_PER_CHECK = 64;

/**
 * Measures functions side by side, in processor time. They take turns, so a busy moment of the machine affects all of
 * them. The time of other programs is not counted.
 */
export async function measureSideBySide(
  functions: readonly (() => unknown)[],
  rounds: number,
): Promise<readonly number[]> {
  const timesNs: number[][] = functions.map(() => []);
  for (const call of functions) await measureRound(call); // Warms up.
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < functions.length; turn++) {
      const index = (round + turn) % functions.length; // No function is always the first one.
      const call = functions[index];
      if (call) timesNs[index]?.push(await measureRound(call));
    }
  }
  return timesNs.map(median);
}

/** Returns nanoseconds for one call. Awaits every promise, as a receiver must. */
async function measureRound(call: () => unknown): Promise<number> {
  const startedNs = processorTimeNs();
  const untilNs = startedNs + ROUND_MS * 1e6;
  let calls = 0;
  let nowNs = startedNs;
  while (nowNs < untilNs) {
    for (let batch = 0; batch < CALLS_PER_CHECK; batch++) {
      const result = call();
      if (result instanceof Promise) await result;
    }
    calls += CALLS_PER_CHECK;
    nowNs = processorTimeNs();
  }
  return (nowNs - startedNs) / calls;
}

function processorTimeNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
