import { machineLine } from "../../report/machine.ts";
import { GOAL_HEAD, goalRow, table } from "../../report/table.ts";
import { ProcessName } from "../measure/usage.ts";
import { CaseName, type Measured } from "../measure-sides.ts";
import { goalsOf, LABELS, sleepersCost } from "./goals.ts";
import { type Cost, costBehindWrite, costOf, type Results, rateOf, timesFloor } from "./results.ts";

/** Writes a run as Markdown that also reads well in a terminal. */
export function toMarkdown(results: Results): string {
  const { machine, settings, alone, beside } = results;
  const number = (value: number) => value.toLocaleString("en");
  return [
    "# bench:deliver",
    "",
    `${machineLine(machine)}, Temporal on SQLite (write-ahead log, synced).`,
    `${settings.rounds} rounds, the cases in turn, medians: ${number(settings.floor)} empty workflows, backlogs of ${number(settings.backlog)} (to 1 account, to ${number(settings.accounts)}), ${number(settings.failing)} failing, ${number(settings.workflows)} that are a workflow each; then ${settings.steadySeconds} s steady. Everything shares the machine.`,
    "",
    ...table(
      RATE_HEAD,
      Object.values(CaseName).map((name) => rateRow(results, name)),
    ),
    "",
    ...table(STEADY_HEAD, sidesOf(results).map(steadyRow)),
    "",
    "What one delivery costs, or one empty workflow:",
    "",
    ...table(COST_HEAD, costRows(alone)),
    "",
    ...(beside === undefined
      ? []
      : [
          `The same beside ${number(settings.sleepers)} deliveries asleep, which were put to sleep at ${beside.sleepersPerSecond.toFixed(0)}/s:`,
          "",
          ...table(COST_HEAD, costRows(beside)),
          "",
        ]),
    ...table(GOAL_HEAD, goalsOf(results).map(goalRow)),
    "",
  ].join("\n");
}

const RATE_HEAD = ["", "a second", "× floor", "beside sleepers", "× floor then", "cost %"];

function rateRow(results: Results, name: CaseName): string[] {
  const { alone, beside } = results;
  const rates = (side: Measured) => [
    rateOf(side, name).toFixed(0),
    timesFloor(side, name).toFixed(2),
  ];
  return [
    LABELS[name],
    ...rates(alone),
    ...(beside === undefined
      ? ["-", "-", "-"]
      : [...rates(beside), sleepersCost(results, name).toFixed(1)]),
  ];
}

const STEADY_HEAD = [
  "20 a second",
  "p50 ms",
  "p99 ms",
  "product RSS MB",
  "its peak",
  "Temporal RSS MB",
  "its peak",
];

function sidesOf({ alone, beside }: Results): [string, Measured][] {
  return beside === undefined
    ? [["alone", alone]]
    : [
        ["alone", alone],
        ["beside sleepers", beside],
      ];
}

function steadyRow([label, { steady, memory }]: [string, Measured]): string[] {
  const { product, temporal } = memory;
  const megabytes = [product.nowMb, product.peakMb, temporal.nowMb, temporal.peakMb];
  return [
    label,
    steady.p50Ms.toFixed(1),
    steady.p99Ms.toFixed(1),
    ...megabytes.map((value) => value.toFixed(0)),
  ];
}

const COST_HEAD = [
  "",
  "statements",
  "commits",
  "workflows",
  "history events",
  "actions",
  ...Object.values(ProcessName).map((name) => `CPU ms: ${name}`),
];

function costRows({ rounds, counting, steady }: Measured): string[][] {
  const cases = Object.values(CaseName).map((name) => costRow(LABELS[name], costOf(rounds[name])));
  return [
    ...cases,
    costRow("later, to be counted", costOf([counting])),
    costRow("steady", costOf([steady])),
    costRow("steady, behind its write", costBehindWrite(steady)),
  ];
}

function costRow(label: string, cost: Cost): string[] {
  const { statements, commits, workflows, historyEvents, actions, cpuMs } = cost;
  return [
    label,
    statements.toFixed(1),
    commits.toFixed(2),
    ...[workflows, historyEvents, actions].map((value) => value.toFixed(2)),
    ...Object.values(ProcessName).map((name) => cpuMs(name).toFixed(2)),
  ];
}
