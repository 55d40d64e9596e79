import type { Goal } from "../../report/goals.ts";
import { CaseName } from "../measure-half.ts";
import { type Results, rateOf, timesFloor } from "./results.ts";

/** For people, whatever part of a run they were measured in. */
export const LABELS: Readonly<Record<CaseName, string>> = {
  [CaseName.Floor]: "floor: an empty workflow each",
  [CaseName.OneReceiver]: "backlog to one receiver",
  [CaseName.ManyAccounts]: "backlog to many accounts' endpoints",
  [CaseName.Failing]: "backlog failing with 500",
};

const TIMES_FLOOR: readonly (readonly [CaseName, number])[] = [
  [CaseName.OneReceiver, 8],
  [CaseName.ManyAccounts, 8],
  [CaseName.Failing, 0.7],
];
const P50_MS = 20;
const P99_MS = 60;
const SLEEPERS_COST_PERCENT = 10;

/** Returns the goals of deliveries, beside what was measured. */
export function goalsOf(results: Results): Goal[] {
  const { alone, beside } = results;
  const atMost = (text: string, goal: number, measured: number, unit: Goal["unit"]): Goal => ({
    ...{ text, goal, measured, unit },
    bound: "at most",
  });
  const goals: Goal[] = TIMES_FLOOR.map(([name, goal]) => ({
    text: `${LABELS[name]}, against the floor`,
    bound: "at least",
    goal,
    measured: timesFloor(alone, name),
    unit: "×",
  }));
  goals.push(
    atMost("steady, commit to arrival, p50", P50_MS, alone.steady.p50Ms, "ms"),
    atMost("steady, commit to arrival, p99", P99_MS, alone.steady.p99Ms, "ms"),
  );
  if (beside === undefined) return goals;
  const rates = TIMES_FLOOR.map(([name]) => {
    const measured = sleepersCost(results, name);
    return atMost(`what sleepers cost: ${LABELS[name]}`, SLEEPERS_COST_PERCENT, measured, "%");
  });
  return [...goals, ...rates];
}

/** Returns by how many percent a rate is lower beside the sleepers. */
export function sleepersCost({ alone, beside }: Results, name: CaseName): number {
  if (beside === undefined) return Number.NaN;
  return 100 * (1 - rateOf(beside, name) / rateOf(alone, name));
}
