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
  { watch, pids, temporal }: BenchStack,
  count: number,
  work: () => Promise<number>,
): Promise<CaseRun> {
  const sinceMs = Date.now();
  const { result: seconds, usage } = await watch.during(pids, work);
  const engine = await readEngineCost(temporal, sinceMs);
  return { count, perSecond: count / seconds, usage, engine };
}
