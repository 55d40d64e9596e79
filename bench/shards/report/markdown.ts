import { median } from "../../measure/sample.ts";
import { type Machine, machineLine } from "../../report/machine.ts";
import { table } from "../../report/table.ts";
import { CaseName, type CaseRun } from "../cases/measure-case.ts";
import type { Round } from "../measure.ts";
import type { Settings } from "../settings.ts";
import { ProcessName } from "../stores.ts";

/** Everything a run measured: what results/shards.json holds. */
export type Results = {
  readonly machine: Machine;
  readonly settings: Settings;
  /** In the order in which they took turns; the first has no Vitess. */
  readonly sides: readonly string[];
  readonly rounds: readonly Round[];
};

const NAMES = Object.values(ProcessName);
const CASES: Readonly<Record<CaseName, string>> = {
  [CaseName.Reads]: "cold pages, one after the other on each of 32 connections",
  [CaseName.Writes]: "contributions that nobody is told of, 64 writers",
  [CaseName.Deliveries]: "deliveries of a backlog",
};
const HEAD = [
  "",
  "a second",
  ...NAMES.map((name) => `${name}, CPU ms each`),
  "all",
  "× without Vitess",
];

/** Writes a run as Markdown that also reads well in a terminal. */
export function toMarkdown(results: Results): string {
  const { machine, settings, sides } = results;
  const number = (value: number) => value.toLocaleString("en");
  return [
    "# bench:shards",
    "",
    `${machineLine(machine)}.`,
    `${number(settings.accounts)} accounts are written to; ${settings.rounds} rounds, the sides in turn; medians, ratios round by round. Everything shares the machine. Each shard has a MySQL and a vttablet of its own, and so has keyspace lookup, which are counted too; etcd and vtctld are not.`,
    "",
    ...Object.values(CaseName).flatMap((name) => [
      `## ${name}: ${CASES[name]}`,
      "",
      ...table(
        HEAD,
        sides.map((side) => row(results, name, side)),
      ),
      "",
    ]),
  ].join("\n");
}

function row({ rounds, sides }: Results, name: CaseName, side: string): string[] {
  const of = (pick: (run: CaseRun) => number, from = side) =>
    rounds.map((round) => {
      const run = round[from]?.[name];
      return run === undefined ? Number.NaN : pick(run);
    });
  const all = ({ cpuMs, count }: CaseRun) =>
    NAMES.reduce((sum, process) => sum + cpuMs[process], 0) / count;
  const plain = of(all, sides[0]);
  const ratios = of(all).map((value, index) => value / (plain[index] ?? Number.NaN));
  return [
    side,
    median(of(({ perSecond }) => perSecond)).toFixed(0),
    ...NAMES.map((process) => median(of(({ cpuMs, count }) => cpuMs[process] / count)).toFixed(2)),
    median(of(all)).toFixed(2),
    median(ratios).toFixed(2),
  ];
}
