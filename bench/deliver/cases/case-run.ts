import type { BenchStack } from "../bench-stack.ts";
import { readTemporalCost, type TemporalCost } from "../measure/temporal-cost.ts";
import type { Usage } from "../measure/usage.ts";

/** One measurement of one case. */
export type CaseRun = {
  /** Deliveries, or empty workflows. */
  readonly count: number;
  readonly perSecond: number;
  readonly usage: Usage;
  readonly temporalCost: TemporalCost;
};

/** Measures `work`, which makes `count` deliveries and returns how many seconds it took. */
export async function measureCase(
  { watch, pids, temporal }: BenchStack,
  count: number,
  work: () => Promise<number>,
): Promise<CaseRun> {
  const sinceMs = Date.now();
  const { result: seconds, usage } = await watch.during(pids, work);
  const temporalCost = await readTemporalCost(temporal, sinceMs);
  return { count, perSecond: count / seconds, usage, temporalCost };
}
