import { atLeast, atMost, type Goal } from "../report/goal.ts";
import { medianOf, type Place, type Run, ratioOf, sumOf, valuesOf } from "../report/runs.ts";
import { grouped, table } from "../report/table.ts";
import { LAYOUTS, type LayoutName } from "./layouts.ts";
import { MANY_WRITERS, WITHOUT_BACKLOG, WRITE_CASES, type WriteCase } from "./write-case.ts";

/** The side and the load of empty workflows, the floor of Temporal. */
export const FLOOR: Place = { side: "floor", load: "empty workflows" };

const TIMES_FLOOR = { "one-process": 10, "own-process": 14 };
const [CPU_MS, P50_MS] = [0.65, 300];
const [STEADY_CPU_MS, STEADY_P50_MS] = [4.4, 6];

const wholeCpu = sumOf("cpu product", "cpu database", "cpu Temporal");

/** Describes a case in words. */
export function labelOf(
  { workers, to, perSecond, besideHanging }: WriteCase,
  accounts: number,
): string {
  if (besideHanging) return `${workers} writers beside a hanging backlog`;
  if (perSecond !== undefined) return `${perSecond} a second`;
  const who = workers === 1 ? "1 writer" : `${workers} writers`;
  return `${who}, ${to === "one" ? "1 account" : `${grouped(accounts)} accounts`}`;
}

/** Returns the table of a layout. */
export function layoutTable(runs: readonly Run[], side: LayoutName, accounts: number): string[] {
  const of = (figure: Parameters<typeof medianOf>[2]) => (writeCase: WriteCase) =>
    medianOf(runs, { side, load: writeCase.name }, figure);
  const timesFloor = ({ name, perSecond }: WriteCase) =>
    perSecond ? Number.NaN : ratioOf(runs, { side, load: name }, FLOOR);
  const totalOf = (figure: string) => (writeCase: WriteCase) =>
    valuesOf(runs, { side, load: writeCase.name }, figure).reduce((sum, value) => sum + value, 0);
  return table(measuredOf(runs, side), [
    [LAYOUTS[side].label, (writeCase) => labelOf(writeCase, accounts)],
    ["events/s", of("perSecond"), 0],
    ["× floor", timesFloor, 2],
    ["p50 ms", of("p50Ms"), 1],
    ["p99 ms", of("p99Ms"), 1],
    ["CPU ms an event", of(wholeCpu), 2],
    ["product's", of("cpu product"), 2],
    ["database's", of("cpu database"), 2],
    ["Temporal's", of("cpu Temporal"), 2],
    ["beside it: load's", of("cpu load"), 2],
    ["receiver's", of("cpu receiver"), 2],
    ["lost", totalOf("lost"), 0],
    ["twice", totalOf("again"), 0],
  ]);
}

/** Returns the goals of a layout, with the measured values. */
export function layoutGoals(runs: readonly Run[], side: LayoutName, accounts: number): Goal[] {
  return measuredOf(runs, side).flatMap((writeCase) => {
    const label = `${LAYOUTS[side].label}, ${labelOf(writeCase, accounts)}`;
    const place = { side, load: writeCase.name };
    const [cpu, p50] = [medianOf(runs, place, wholeCpu), medianOf(runs, place, "p50Ms")];
    if (writeCase.perSecond !== undefined) {
      return [
        atMost(`${label}: CPU`, STEADY_CPU_MS, cpu, "ms"),
        atMost(`${label}: p50`, STEADY_P50_MS, p50, "ms"),
      ];
    }
    if (writeCase.besideHanging) return besideGoals(runs, side, label);
    if (writeCase.workers !== MANY_WRITERS) return [];
    const timesFloor = ratioOf(runs, place, FLOOR);
    return [
      atLeast(`${label}: against the floor`, TIMES_FLOOR[side], timesFloor, "×"),
      atMost(`${label}: CPU`, CPU_MS, cpu, "ms"),
      atMost(`${label}: p50`, P50_MS, p50, "ms"),
    ];
  });
}

/** Returns the goals of writers while there is a backlog, relative to writers without one. */
function besideGoals(runs: readonly Run[], side: LayoutName, label: string): Goal[] {
  const [beside, without] = ["beside-hanging", WITHOUT_BACKLOG.name].map((load) => ({
    side,
    load,
  }));
  if (!beside || !without || valuesOf(runs, without, "count").length === 0) return [];
  const p50 = ratioOf(runs, beside, without, "p50Ms");
  return [
    atLeast(`${label}: rate, by without`, 0.9, ratioOf(runs, beside, without), "×"),
    atMost(`${label}: p50, by without`, 1.3, p50, "×"),
  ];
}

/** Counts lost and repeated events of all cases. There must be none. */
export function countWrong(runs: readonly Run[]): number {
  return runs.reduce((sum, { figures: { lost = 0, again = 0 } }) => sum + lost + again, 0);
}

function measuredOf(runs: readonly Run[], side: string): WriteCase[] {
  return WRITE_CASES.filter(({ name }) => valuesOf(runs, { side, load: name }, "count").length > 0);
}
