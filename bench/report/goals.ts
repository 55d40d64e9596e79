import type { Round } from "../measure/rounds.ts";
import { SideName } from "../sides/side.ts";
import { atLeast, atMost, type Goal } from "./goal.ts";
import { type Results, ratio, type SideResult } from "./results.ts";

const rate = (round: Round) => round.requestsPerSecond;
const slowest = (round: Round) => round.p99Ms;

/** Returns the goals that the sides of a run can be held against. */
export function goalsOf({ sides, history }: Results): Goal[] {
  const find = (name: SideName) => sides.find((side) => side.name === name);
  const product = find(SideName.OneProcess);
  const pairs: [SideResult | undefined, SideResult | undefined, string][] = [
    [product, find(SideName.Fastify), "Fastify"],
    [
      find(SideName.OneProcessRedis),
      find(SideName.FastifyRedis),
      "Fastify, both counting in Redis",
    ],
  ];
  const goals: Goal[] = [];
  for (const [ours, theirs, name] of pairs) {
    if (ours === undefined || theirs === undefined) continue;
    const throughput = ratio(ours, theirs, rate);
    const p99 = ratio(ours, theirs, slowest);
    goals.push(
      atLeast(`throughput against ${name}`, 1, throughput, "×"),
      atMost(`p99 against ${name}`, 1, p99, "×"),
    );
  }
  const bare = find(SideName.BareQuery);
  if (product && bare) {
    const measured = ratio(product, bare, rate);
    goals.push(atLeast("rate against the bare page query", 0.6, measured, "×"));
  }
  for (const { order, firstMs, lastMs } of history) {
    const measured = lastMs / firstMs;
    goals.push(atMost(`last page against first, ${order}`, 1.1, measured, "×"));
  }
  if (product) {
    const measured = Math.max(...product.peakMemoryMb);
    goals.push(atMost("resident memory, one process, peak", 200, measured, "MB"));
  }
  return goals;
}
