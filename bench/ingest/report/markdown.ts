import { median } from "../../measure/sample.ts";
import { machineLine } from "../../report/machine.ts";
import { GOAL_HEAD, goalRow, table } from "../../report/table.ts";
import { ProcessName, SideName, type SingleRun, SpreadName } from "../cases/measure-singles.ts";
import { goalsOf, spreadLabel } from "./goals.ts";
import { importRate, medianOf, type Results, timesByHand } from "./results.ts";

/** Writes a run as Markdown that also reads well in a terminal. */
export function toMarkdown(results: Results): string {
  const { machine, settings } = results;
  return [
    "# bench:ingest",
    "",
    `${machineLine(machine)}.`,
    `64 writers, no endpoints; ${settings.rounds} rounds, the sides in turn, ${settings.seconds} s each; medians. Everything shares the machine.`,
    "",
    ...table(SINGLE_HEAD, singleRows(results)),
    "",
    ...table(IMPORT_HEAD, [importRow(results)]),
    "",
    ...table(GOAL_HEAD, goalsOf(results).map(goalRow)),
    "",
  ].join("\n");
}

const SIDE_LABELS: Readonly<Record<SideName, string>> = {
  [SideName.Product]: "product",
  [SideName.ByHand]: "by hand",
};
const SINGLE_HEAD = [
  "single contributions",
  "a second",
  "× by hand",
  "p50 ms",
  "p99 ms",
  "CPU ms each",
  "database's",
  "statements",
  "commits",
];

function singleRows(results: Results): string[][] {
  return Object.values(SpreadName).flatMap((spread) =>
    Object.values(SideName).map((side) => {
      const of = (pick: (run: SingleRun) => number) => medianOf(results, side, spread, pick);
      const cpuMs = (name: ProcessName) => of(({ usage, count }) => usage.cpuMs[name] / count);
      return [
        `${SIDE_LABELS[side]}, ${spreadLabel(spread, results.settings)}`,
        of(({ perSecond }) => perSecond).toFixed(0),
        side === SideName.Product ? timesByHand(results, spread).toFixed(2) : "1.00",
        of(({ p50Ms }) => p50Ms).toFixed(1),
        of(({ p99Ms }) => p99Ms).toFixed(1),
        cpuMs(ProcessName.Writer).toFixed(2),
        cpuMs(ProcessName.Database).toFixed(2),
        of(({ usage, count }) => usage.statements / count).toFixed(1),
        of(({ usage, count }) => usage.commits / count).toFixed(2),
      ];
    }),
  );
}

const IMPORT_HEAD = [
  "import",
  "rows/s",
  "CPU s per 100,000",
  "database's",
  "RSS MB before",
  "its peak",
];

function importRow(results: Results): string[] {
  const { rounds, idleMb, peakMb } = results.imports;
  // Milliseconds for one row are seconds for a thousand.
  const cpuSeconds = (name: ProcessName) =>
    median(rounds.map(({ usage, rows }) => (100 * usage.cpuMs[name]) / rows));
  return [
    `${results.settings.importRows.toLocaleString("en")} rows`,
    importRate(results).toFixed(0),
    cpuSeconds(ProcessName.Writer).toFixed(2),
    cpuSeconds(ProcessName.Database).toFixed(2),
    idleMb.toFixed(0),
    peakMb.toFixed(0),
  ];
}
