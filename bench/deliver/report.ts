import { atLeast, atMost, type Goal } from "../report/goal.ts";
import { medianOf, type Run, ratioOf } from "../report/runs.ts";
import { type Column, table } from "../report/table.ts";
import { CASE_NAMES, CASES, type CaseName } from "./cases.ts";
import { ALONE, BESIDE, COUNTING, STEADY, WRITING } from "./places.ts";

const TIMES_FLOOR: readonly (readonly [CaseName, number])[] = [
  ["one-receiver", 15],
  ["many-accounts", 15],
  ["failing", 2],
];
const BACKLOGS = ["one-receiver", "many-accounts"] as const;
const [P50_MS, P99_MS, STEADY_CPU_MS, BACKLOG_CPU_MS] = [6, 25, 4, 0.7];
const [STATEMENTS, COMMITS, SLEEPERS_COST_PERCENT] = [6, 2, 10];
/** The names of the stack's processes. The receiver and the writer of events count as one. */
const PROCESSES = ["product", "floor's worker", "Temporal", "database", "receiver and load"];

/** Returns the table of the rates of all cases, without and with sleepers. */
export function rateTable(runs: readonly Run[]): string[] {
  const rate = (side: string) => (load: CaseName) => medianOf(runs, { side, load }, "perSecond");
  return table(CASE_NAMES, [
    ["", (name) => CASES[name].label],
    ["a second", rate(ALONE), 0],
    ["× floor", (name) => timesFloor(runs, ALONE, name), 2],
    ["beside sleepers", rate(BESIDE), 0],
    ["× floor then", (name) => timesFloor(runs, BESIDE, name), 2],
    ["cost %", (name) => sleepersCost(runs, name), 1],
  ]);
}

/** Returns the table of the steady stream's times and of the memory at its end. */
export function steadyTable(runs: readonly Run[], sides: readonly string[]): string[] {
  const of = (figure: string) => (side: string) => medianOf(runs, { side, load: STEADY }, figure);
  return table(sides, [
    ["20 a second", (side) => side],
    ["p50 ms", of("p50Ms"), 1],
    ["p99 ms", of("p99Ms"), 1],
    ["product RSS MB", of("product MB"), 0],
    ["its peak", of("product peak MB"), 0],
    ["Temporal RSS MB", of("Temporal MB"), 0],
    ["its peak", of("Temporal peak MB"), 0],
  ]);
}

/** Returns the table of the cost of one delivery, or of one empty workflow, on a side. */
export function costTable(runs: readonly Run[], side: string): string[] {
  type Row = readonly [label: string, of: (figure: string) => number];
  const row = (label: string, load: string): Row => {
    return [label, (figure) => medianOf(runs, { side, load }, figure)];
  };
  const rows = [
    ...CASE_NAMES.map((name) => row(CASES[name].label, name)),
    ...[row("later, to be counted", COUNTING), row("steady", STEADY)],
    ["steady, behind its write", (figure: string) => behindWrite(runs, side, figure)] as const,
  ];
  const column = (title: string, figure: string, digits: number): Column<Row> => {
    return [title, ([, of]) => of(figure), digits];
  };
  return table(rows, [
    ["", ([label]) => label],
    column("statements", "statements", 1),
    column("commits", "commits", 2),
    column("workflows", "workflows", 2),
    column("history events", "historyEvents", 2),
    column("actions", "actions", 2),
    ...PROCESSES.map((name) => column(`CPU ms: ${name}`, `cpu ${name}`, 2)),
  ]);
}

/** Returns the goals of deliveries, with the measured values. */
export function deliverGoals(runs: readonly Run[], withSleepers: boolean): Goal[] {
  const behind = (figure: string) => behindWrite(runs, ALONE, figure);
  const of = (load: string) => (figure: string) => medianOf(runs, { side: ALONE, load }, figure);
  const wholeCpu = (each: (figure: string) => number) =>
    each("cpu product") + each("cpu database") + each("cpu Temporal");
  const event = "one event behind its write";
  return [
    ...TIMES_FLOOR.map(([name, goal]) => {
      const measured = timesFloor(runs, ALONE, name);
      return atLeast(`${CASES[name].label}, against the floor`, goal, measured, "×");
    }),
    atMost("steady, commit to arrival, p50", P50_MS, of(STEADY)("p50Ms"), "ms"),
    atMost("steady, commit to arrival, p99", P99_MS, of(STEADY)("p99Ms"), "ms"),
    // Rounds to a tenth, because the sweep also sends statements every five seconds, which belong to no event.
    atMost(`${event}: statements`, STATEMENTS, Math.round(10 * behind("statements")) / 10, ""),
    atMost(`${event}: commits`, COMMITS, behind("commits"), ""),
    atMost(`${event}: actions`, 0, behind("actions"), ""),
    atMost(`${event}: CPU`, STEADY_CPU_MS, wholeCpu(behind), "ms"),
    ...BACKLOGS.map((name) => {
      const cost = wholeCpu(of(name)) + wholeCpu(of(COUNTING));
      return atMost(`one of a ${CASES[name].label}: CPU`, BACKLOG_CPU_MS, cost, "ms");
    }),
    ...(withSleepers ? TIMES_FLOOR : []).map(([name]) => {
      const label = `what sleepers cost: ${CASES[name].label}`;
      return atMost(label, SLEEPERS_COST_PERCENT, sleepersCost(runs, name), "%");
    }),
  ];
}

function timesFloor(runs: readonly Run[], side: string, load: CaseName): number {
  return ratioOf(runs, { side, load }, { side, load: "floor" });
}

/** Returns by how many percent sleepers lower a rate: the median of all rounds. */
function sleepersCost(runs: readonly Run[], load: CaseName): number {
  return 100 * (1 - ratioOf(runs, { side: BESIDE, load }, { side: ALONE, load }));
}

/** Returns the cost of one event of the steady stream without its write. */
function behindWrite(runs: readonly Run[], side: string, figure: string): number {
  const of = (load: string) => medianOf(runs, { side, load }, figure);
  return of(STEADY) - of(WRITING);
}
