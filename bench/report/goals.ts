import { Workload } from "../load/workload.ts";
import type { Round } from "../measure/rounds.ts";
import { SideName } from "../sides/side.ts";
import { atLeast, atMost, type Goal } from "./goal.ts";
import { type Results, ratio, type SideResult, type WorkloadResult } from "./results.ts";

const rate = (round: Round) => round.requestsPerSecond;
const slowest = (round: Round) => round.p99Ms;

/** What is wanted of the product's rate, as a multiple of Fastify's in one process. */
const WANTED: Readonly<Record<Workload, { readonly together: number; readonly apart?: number }>> = {
  [Workload.Polls]: { together: 3, apart: 1.3 },
  [Workload.FirstPages]: { together: 2.3 },
  [Workload.ColdPages]: { together: 1.2, apart: 0.9 },
};
const MEMORY_MB = 200;

/** Returns the goals that the sides of a run can be held against. */
export function goalsOf({ workloads, history }: Results): Goal[] {
  const goals = workloads.flatMap(goalsOfWorkload);
  for (const { order, firstMs, lastMs } of history) {
    const measured = lastMs / firstMs;
    goals.push(atMost(`last page against first, ${order}`, 1.1, measured, "×"));
  }
  const product = workloads.flatMap(({ sides }) =>
    sides.filter(({ name }) => name === SideName.OneProcess),
  );
  if (product.length > 0) {
    const measured = Math.max(...product.flatMap(({ peakMemoryMb }) => peakMemoryMb));
    goals.push(atMost("resident memory, one process, peak", MEMORY_MB, measured, "MB"));
  }
  return goals;
}

function goalsOfWorkload({ name, sides }: WorkloadResult): Goal[] {
  const find = (side: SideName) => sides.find((each) => each.name === side);
  const { together, apart } = WANTED[name];
  const fastify = find(SideName.Fastify);
  return [
    ...against(find(SideName.OneProcess), fastify, name, together),
    ...against(
      find(SideName.OneProcessRedis),
      find(SideName.FastifyRedis),
      `${name}, both counting in Redis`,
      together,
    ),
    ...(apart === undefined
      ? []
      : against(find(SideName.TwoProcesses), fastify, `${name}, apart`, apart)),
  ];
}

function against(
  ours: SideResult | undefined,
  theirs: SideResult | undefined,
  what: string,
  wanted: number,
): Goal[] {
  if (ours === undefined || theirs === undefined) return [];
  return [
    atLeast(`${what}: rate against Fastify`, wanted, ratio(ours, theirs, rate), "×"),
    atMost(`${what}: p99 against Fastify`, 1, ratio(ours, theirs, slowest), "×"),
  ];
}
