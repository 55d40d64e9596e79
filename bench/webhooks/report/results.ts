import { median } from "../../measure/sample.ts";
import type { Machine } from "../../report/machine.ts";
import { type CaseRun, ProcessName } from "../cases/measure-case.ts";
import type { LayoutName } from "../layouts/layout.ts";
import type { Round } from "../measure-rounds.ts";
import type { Settings } from "../settings.ts";

/** Everything a run measured: what results/webhooks.json holds. */
export type Results = {
  readonly machine: Machine;
  readonly settings: Settings;
  readonly rounds: readonly Round[];
};

/** One case of one layout: medians over the rounds, and what was lost or came again in any of them. */
export type CaseResult = {
  readonly perSecond: number;
  /** The rate against the floor of the same round. */
  readonly timesFloor: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Milliseconds of processor time an event. */
  readonly cpuMs: (name: ProcessName) => number;
  /** Of the product, the database and Temporal together. */
  readonly wholeCpuMs: number;
  readonly lost: number;
  readonly again: number;
};

const OWN = [ProcessName.Product, ProcessName.Database, ProcessName.Temporal];

/** Sums up a case of a layout; `undefined` when it was not measured. */
export function findCase(
  { rounds }: Results,
  layout: LayoutName,
  name: string,
): CaseResult | undefined {
  const pairs = rounds.flatMap(({ floorPerSecond, layouts }) => {
    const run = layouts[layout]?.[name];
    return run === undefined ? [] : [{ run, floorPerSecond }];
  });
  if (pairs.length === 0) return undefined;
  const of = (pick: (run: CaseRun) => number) => median(pairs.map(({ run }) => pick(run)));
  const sum = (pick: (run: CaseRun) => number) =>
    pairs.reduce((total, { run }) => total + pick(run), 0);
  return {
    perSecond: of(({ perSecond }) => perSecond),
    timesFloor: median(pairs.map(({ run, floorPerSecond }) => run.perSecond / floorPerSecond)),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuMs: (process) => of(({ usage, count }) => usage.cpuMs[process] / count),
    wholeCpuMs: of(({ usage, count }) =>
      OWN.reduce((total, process) => total + usage.cpuMs[process] / count, 0),
    ),
    lost: sum(({ lost }) => lost),
    again: sum(({ again }) => again),
  };
}

/** Returns the median of the floor. */
export function floorOf({ rounds }: Results): number {
  return median(rounds.map(({ floorPerSecond }) => floorPerSecond));
}

/** Counts what was lost or came again in any case: what must not happen, however fast it is. */
export function countWrong({ rounds }: Results): number {
  const runs = rounds.flatMap(({ layouts }) =>
    Object.values(layouts).flatMap((cases) => Object.values(cases)),
  );
  return runs.reduce((total, { lost, again }) => total + lost + again, 0);
}
