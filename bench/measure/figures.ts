import { setTimeout as wait } from "node:timers/promises";

/** What was measured, by name. */
export type Figures = Readonly<Record<string, number>>;

/** Reads figures that only grow: the difference of two readings is what was used between them. */
export type Counter = () => Promise<Figures>;

/** Counts what `work` uses, for each of the `count` things that it says it did, beside what it tells itself. */
export async function countEach<Told extends { readonly count: number }>(
  counters: readonly Counter[],
  work: () => Promise<Told>,
): Promise<Told & Figures> {
  const before = await readAll(counters);
  const told = await work();
  const after = await readAll(counters);
  const each = Object.entries(after).map(([name, value]) => [
    name,
    (value - (before[name] ?? 0)) / told.count,
  ]);
  return { ...told, ...Object.fromEntries(each) };
}

/** Asks again and again until it is so. */
export async function until(
  isSo: () => Promise<boolean> | boolean,
  everyMs: number,
): Promise<void> {
  while (!(await isSo())) await wait(everyMs);
}

async function readAll(counters: readonly Counter[]): Promise<Figures> {
  return Object.assign({}, ...(await Promise.all(counters.map((read) => read()))));
}
