import type { Round } from "../measure/rounds.ts";
import { SideName } from "../sides/side.ts";
import { type Results, ratio, type SideResult } from "./results.ts";

/** A goal of the product, beside what was measured. */
export type Goal = {
  readonly text: string;
  readonly bound: "at least" | "at most";
  readonly goal: number;
  readonly measured: number;
  readonly unit: "×" | "MB" | "ms" | "%" | "";
};

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
      {
        text: `throughput against ${name}`,
        bound: "at least",
        goal: 1,
        measured: throughput,
        unit: "×",
      },
      { text: `p99 against ${name}`, bound: "at most", goal: 1, measured: p99, unit: "×" },
    );
  }
  const bare = find(SideName.BareQuery);
  if (product && bare) {
    const measured = ratio(product, bare, rate);
    goals.push({
      text: "rate against the bare page query",
      bound: "at least",
      goal: 0.6,
      measured,
      unit: "×",
    });
  }
  for (const { order, firstMs, lastMs } of history) {
    const measured = lastMs / firstMs;
    goals.push({
      text: `last page against first, ${order}`,
      bound: "at most",
      goal: 1.1,
      measured,
      unit: "×",
    });
  }
  if (product) {
    const measured = Math.max(...product.peakMemoryMb);
    goals.push({
      text: "resident memory, one process, peak",
      bound: "at most",
      goal: 200,
      measured,
      unit: "MB",
    });
  }
  return goals;
}

/** Tells whether a goal is met. */
export function isMet({ bound, goal, measured }: Goal): boolean {
  return bound === "at least" ? measured >= goal : measured <= goal;
}

/** Says by how much a goal is missed, in percent of it. */
export function missedBy({ goal, measured }: Goal): string {
  return `${((100 * Math.abs(measured - goal)) / goal).toFixed(0)} %`;
}
