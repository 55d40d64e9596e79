import { setTimeout as wait } from "node:timers/promises";
import type { BenchStack } from "../bench-stack.ts";
import { type EngineCost, readEngineCost } from "../measure/engine-cost.ts";
import type { Usage } from "../measure/usage.ts";

/** One measurement of one case. */
export type CaseRun = {
  /** Deliveries, or empty workflows. */
  readonly count: number;
  readonly perSecond: number;
  readonly usage: Usage;
  readonly engine: EngineCost;
};

/** Measures `work`, which makes so many deliveries and returns how many seconds it took. */
export async function measureCase(
  { watch, temporal }: BenchStack,
  count: number,
  work: () => Promise<number>,
): Promise<CaseRun> {
  const sinceMs = Date.now();
  const { result: seconds, usage } = await watch.during(work);
  const engine = await readEngineCost(temporal, sinceMs);
  return { count, perSecond: count / seconds, usage, engine };
}

/** Asks again and again until it is so. */
export async function until(
  isSo: () => Promise<boolean> | boolean,
  everyMs: number,
): Promise<void> {
  while (!(await isSo())) await wait(everyMs);
}
