import { median } from "../../measure/sample.ts";
import type { Machine } from "../../report/machine.ts";
import type { CaseRun } from "../cases/case-run.ts";
import type { SteadyRun } from "../cases/steady.ts";
import { ProcessName } from "../measure/usage.ts";
import { CaseName, type Measured } from "../measure-sides.ts";
import type { Settings } from "../settings.ts";

/** Everything a run measured: what results/deliver.json holds. */
export type Results = {
  readonly machine: Machine;
  readonly settings: Settings;
  /** Nothing asleep. */
  readonly alone: Measured;
  /** A stack with the sleepers, measured in turn with the other, and how many of them Temporal took a second. */
  readonly beside: (Measured & { readonly sleepersPerSecond: number }) | undefined;
};

/** Returns the median rate of a case. */
export function rateOf(side: Measured, name: CaseName): number {
  return median(side.rounds[name].map(({ perSecond }) => perSecond));
}

/** Compares a case with the floor round by round, for they ran one after the other; the median of that. */
export function timesFloor(side: Measured, name: CaseName): number {
  const ratios = side.rounds[name].map(({ perSecond }, index) => {
    const floor = side.rounds[CaseName.Floor][index];
    return floor === undefined ? Number.NaN : perSecond / floor.perSecond;
  });
  return median(ratios);
}

/** What one delivery costs, or one empty workflow. */
export type Cost = {
  readonly statements: number;
  readonly commits: number;
  readonly workflows: number;
  readonly historyEvents: number;
  readonly actions: number;
  readonly cpuMs: (process: ProcessName) => number;
};

/** What one event of the steady stream costs beyond being written. */
export function costBehindWrite({ written, ...delivered }: SteadyRun): Cost {
  const [all, write] = [costOf([delivered]), costOf([written])];
  return {
    statements: all.statements - write.statements,
    commits: all.commits - write.commits,
    workflows: all.workflows - write.workflows,
    historyEvents: all.historyEvents - write.historyEvents,
    actions: all.actions - write.actions,
    cpuMs: (process) => all.cpuMs(process) - write.cpuMs(process),
  };
}

/** The processor time of the product and its database. */
export function ownCpuMs({ cpuMs }: Cost): number {
  return cpuMs(ProcessName.Product) + cpuMs(ProcessName.Database);
}

/** Returns the median over the rounds of what one delivery cost. */
export function costOf(runs: readonly CaseRun[]): Cost {
  const each = (pick: (run: CaseRun) => number) => median(runs.map((run) => pick(run) / run.count));
  return {
    statements: each(({ usage }) => usage.statements),
    commits: each(({ usage }) => usage.commits),
    workflows: each(({ temporalCost }) => temporalCost.workflows),
    historyEvents: each(({ temporalCost }) => temporalCost.historyEvents),
    actions: each(({ temporalCost }) => temporalCost.actions),
    cpuMs: (process) => each(({ usage }) => usage.cpuMs[process]),
  };
}
