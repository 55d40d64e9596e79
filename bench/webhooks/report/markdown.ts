import { machineLine } from "../../report/machine.ts";
import { GOAL_HEAD, goalRow, table } from "../../report/table.ts";
import { ProcessName } from "../cases/measure-case.ts";
import { labelOf, WRITE_CASES, type WriteCase } from "../cases/write-case.ts";
import { LAYOUT_LABELS, type LayoutName } from "../layouts/layout.ts";
import { goalsOf } from "./goals.ts";
import { findCase, floorOf, type Results } from "./results.ts";

/** Writes a run as Markdown that also reads well in a terminal. */
export function toMarkdown(results: Results): string {
  const { machine, settings } = results;
  return [
    "# bench:webhooks",
    "",
    `${machineLine(machine)}, Temporal on SQLite (write-ahead log, synced).`,
    `${settings.rounds} rounds, the cases in turn, ${settings.seconds} s of writing each, ${settings.steadySeconds} s at 20 a second; medians. Everything shares the machine.`,
    `The floor: ${floorOf(results).toFixed(0)} empty workflows a second.`,
    "",
    ...settings.layouts.flatMap((layout) => [
      ...table([LAYOUT_LABELS[layout], ...HEAD], rowsOf(results, layout)),
      "",
    ]),
    ...table(GOAL_HEAD, goalsOf(results).map(goalRow)),
    "",
  ].join("\n");
}

const HEAD = [
  "events/s",
  "× floor",
  "p50 ms",
  "p99 ms",
  "CPU ms an event",
  "product's",
  "database's",
  "Temporal's",
  "beside it: load's",
  "receiver's",
  "lost",
  "twice",
];

function rowsOf(results: Results, layout: LayoutName): string[][] {
  return WRITE_CASES.flatMap((writeCase) => rowOf(results, layout, writeCase));
}

function rowOf(results: Results, layout: LayoutName, writeCase: WriteCase): string[][] {
  const found = findCase(results, layout, writeCase.name);
  if (found === undefined) return [];
  const { perSecond, timesFloor, p50Ms, p99Ms, wholeCpuMs, cpuMs, lost, again } = found;
  return [
    [
      labelOf(writeCase, results.settings.accounts),
      perSecond.toFixed(0),
      writeCase.perSecond === undefined ? timesFloor.toFixed(2) : "-",
      p50Ms.toFixed(1),
      p99Ms.toFixed(1),
      wholeCpuMs.toFixed(2),
      ...Object.values(ProcessName).map((name) => cpuMs(name).toFixed(2)),
      `${lost}`,
      `${again}`,
    ],
  ];
}
