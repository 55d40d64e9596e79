import { median } from "../../measure/sample.ts";
import { atLeast, atMost, type Goal } from "../../report/goal.ts";
import { CaseName } from "../measure-sides.ts";
import { costBehindWrite, costOf, ownCpuMs, type Results, timesFloor } from "./results.ts";

/** For people, whatever part of a run they were measured in. */
export const LABELS: Readonly<Record<CaseName, string>> = {
  [CaseName.Floor]: "floor: an empty workflow each",
  [CaseName.OneReceiver]: "backlog to one receiver",
  [CaseName.ManyAccounts]: "backlog to many accounts' endpoints",
  [CaseName.Failing]: "backlog failing with 500",
  [CaseName.Workflows]: "backlog to many, DELIVERY_WORKFLOWS=all",
};

const TIMES_FLOOR: readonly (readonly [CaseName, number])[] = [
  [CaseName.OneReceiver, 15],
  [CaseName.ManyAccounts, 15],
  [CaseName.Failing, 2],
];
const BACKLOGS = [CaseName.OneReceiver, CaseName.ManyAccounts];
const P50_MS = 6;
const P99_MS = 25;
const STATEMENTS = 6;
const COMMITS = 2;
const STEADY_CPU_MS = 4;
const BACKLOG_CPU_MS = 0.7;
const SLEEPERS_COST_PERCENT = 10;

/** Returns the goals of deliveries, beside what was measured. */
export function goalsOf(results: Results): Goal[] {
  const { alone, beside } = results;
  const behind = costBehindWrite(alone.steady);
  const goals = TIMES_FLOOR.map(([name, goal]) =>
    atLeast(`${LABELS[name]}, against the floor`, goal, timesFloor(alone, name), "×"),
  );
  goals.push(
    atMost("steady, commit to arrival, p50", P50_MS, alone.steady.p50Ms, "ms"),
    atMost("steady, commit to arrival, p99", P99_MS, alone.steady.p99Ms, "ms"),
    // To a tenth: a sweep every five seconds is nobody's event.
    atMost(
      "one event behind its write: statements",
      STATEMENTS,
      Math.round(10 * behind.statements) / 10,
      "",
    ),
    atMost("one event behind its write: commits", COMMITS, behind.commits, ""),
    atMost("one event behind its write: actions", 0, behind.actions, ""),
    atMost("one event behind its write: CPU", STEADY_CPU_MS, ownCpuMs(behind), "ms"),
    ...BACKLOGS.map((name) => {
      const cost = ownCpuMs(costOf(alone.rounds[name])) + ownCpuMs(costOf([alone.counting]));
      return atMost(`one of a ${LABELS[name]}: CPU`, BACKLOG_CPU_MS, cost, "ms");
    }),
  );
  if (beside === undefined) return goals;
  const rates = TIMES_FLOOR.map(([name]) => {
    const measured = sleepersCost(results, name);
    return atMost(`what sleepers cost: ${LABELS[name]}`, SLEEPERS_COST_PERCENT, measured, "%");
  });
  return [...goals, ...rates];
}

/** Returns by how many percent a rate is lower beside the sleepers, round by round; the median of that. */
export function sleepersCost({ alone, beside }: Results, name: CaseName): number {
  if (beside === undefined) return Number.NaN;
  const ratios = alone.rounds[name].map(
    ({ perSecond }, round) => (beside.rounds[name][round]?.perSecond ?? Number.NaN) / perSecond,
  );
  return 100 * (1 - median(ratios));
}
