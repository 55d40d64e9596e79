import { setTimeout as wait } from "node:timers/promises";

/** Measured values by name. */
export type Figures = Readonly<Record<string, number>>;

/** Reads values that only grow. The difference of two readings is the use between them. */
export type Counter = () => Promise<Figures>;

/** Counts what `work` uses for each of its `count` items. Adds the figures that `work` returns. */
export async function countEach<Result extends { readonly count: number }>(
  counters: readonly Counter[],
  work: () => Promise<Result>,
): Promise<Result & Figures> {
  const before = await readAll(counters);
  const result = await work();
  const after = await readAll(counters);
  const each = Object.entries(after).map(([name, value]) => {
    return [name, (value - (before[name] ?? 0)) / result.count];
  });
  return { ...result, ...Object.fromEntries(each) };
}

/** Polls until `isSo` returns true. */
export async function until(
  isSo: () => Promise<boolean> | boolean,
  everyMs: number,
): Promise<void> {
  while (!(await isSo())) await wait(everyMs);
}

async function readAll(counters: readonly Counter[]): Promise<Figures> {
  return Object.assign({}, ...(await Promise.all(counters.map((read) => read()))));
}
