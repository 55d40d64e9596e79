import { readOptions, UsageError, wholeNumber } from "./command-line.ts";
import { type DataSize, FULL_DATA, SHORT_DATA } from "./data/bench-accounts.ts";
import { Workload } from "./load/workload.ts";
import type { Schedule } from "./measure/rounds.ts";
import { SideName, USUAL_SIDES } from "./sides/side.ts";

/** What a run does. */
export type Settings = {
  readonly size: DataSize;
  readonly schedule: Schedule;
  readonly concurrency: number;
  readonly workloads: readonly Workload[];
  readonly sides: readonly SideName[];
  /** Requests for each place of the long history. */
  readonly historySamples: number;
  readonly profile: boolean;
};

export const USAGE = `npm run bench:read -- [--short] [--profile] [--concurrency 32] [--rounds 5] [--seconds 6] [--only side,side] [--workloads polls,cold-pages]
  --short    a few seconds a side on little data: only to see that it runs; nothing is written to results/
  --profile  writes results/profile.md, and nothing else: where the serving processes spend their time
  --only     some of ${Object.values(SideName).join(", ")}
  --workloads  some of ${Object.values(Workload).join(", ")}
Only a run without options is written to results/read.*
`;

const OPTIONS = {
  short: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
  concurrency: { type: "string", default: "32" },
  rounds: { type: "string" },
  seconds: { type: "string" },
  only: { type: "string" },
  workloads: { type: "string" },
} as const;

/** Reads the command line. */
export function readSettings(args: string[]): Settings {
  const values = readOptions(args, OPTIONS);
  const usual = values.short
    ? { rounds: 1, warmUpSeconds: 1, seconds: 1 }
    : { rounds: 5, warmUpSeconds: 4, seconds: 6 };
  return {
    size: values.short ? SHORT_DATA : FULL_DATA,
    schedule: {
      ...usual,
      rounds: wholeNumber("rounds", values.rounds ?? String(usual.rounds), 1),
      seconds: wholeNumber("seconds", values.seconds ?? String(usual.seconds), 1),
    },
    concurrency: wholeNumber("concurrency", values.concurrency, 1),
    workloads: someOf("workloads", Object.values(Workload), values.workloads),
    sides: someOf("only", Object.values(SideName), values.only, USUAL_SIDES),
    historySamples: values.short ? 50 : 1_000,
    profile: values.profile,
  };
}

/** Tells whether the settings are those of a whole run, whose results are kept. */
export function isWhole(settings: Settings): boolean {
  return JSON.stringify(settings) === JSON.stringify(readSettings([]));
}

function someOf<Name extends string>(
  option: string,
  all: readonly Name[],
  given: string | undefined,
  usual: readonly Name[] = all,
): readonly Name[] {
  if (given === undefined) return usual;
  const names = given.split(",");
  const unknown = names.find((name) => !all.some((known) => known === name));
  if (unknown !== undefined) throw new UsageError(`--${option} accepts ${all.join(", ")}.`);
  return all.filter((name) => names.includes(name));
}
