import { readOptions, UsageError, wholeNumber } from "./command-line.ts";
import { type DataSize, FULL_DATA, SHORT_DATA } from "./data/bench-accounts.ts";
import type { Schedule } from "./measure/rounds.ts";
import { SideName } from "./sides/side.ts";

/** What a run does. */
export type Settings = {
  readonly size: DataSize;
  readonly schedule: Schedule;
  readonly concurrency: number;
  readonly sides: readonly SideName[];
  /** Requests for each place of the long history. */
  readonly historySamples: number;
  readonly profile: boolean;
};

export const USAGE = `npm run bench:read -- [--short] [--profile] [--concurrency 32] [--rounds 5] [--seconds 8] [--only side,side]
  --short    a few seconds a side on little data: only to see that it runs; nothing is written to results/
  --profile  writes results/profile.md, and nothing else: where the serving processes spend their time
  --only     some of ${Object.values(SideName).join(", ")}
Only a run without options is written to results/read.*
`;

const OPTIONS = {
  short: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
  concurrency: { type: "string", default: "32" },
  rounds: { type: "string" },
  seconds: { type: "string" },
  only: { type: "string" },
} as const;

/** Reads the command line. */
export function readSettings(args: string[]): Settings {
  const values = readOptions(args, OPTIONS);
  const usual = values.short
    ? { rounds: 2, warmUpSeconds: 1, seconds: 1 }
    : { rounds: 5, warmUpSeconds: 5, seconds: 8 };
  return {
    size: values.short ? SHORT_DATA : FULL_DATA,
    schedule: {
      ...usual,
      rounds: wholeNumber("rounds", values.rounds ?? String(usual.rounds), 1),
      seconds: wholeNumber("seconds", values.seconds ?? String(usual.seconds), 1),
    },
    concurrency: wholeNumber("concurrency", values.concurrency, 1),
    sides: readSides(values.only),
    historySamples: values.short ? 50 : 1_000,
    profile: values.profile,
  };
}

/** Tells whether the settings are those of a whole run, whose results are kept. */
export function isWhole(settings: Settings): boolean {
  return JSON.stringify(settings) === JSON.stringify(readSettings([]));
}

function readSides(only: string | undefined): readonly SideName[] {
  const all = Object.values(SideName);
  if (only === undefined) return all;
  const names = only.split(",");
  const unknown = names.find((name) => !all.some((side) => side === name));
  if (unknown !== undefined) throw new UsageError(`--only accepts ${all.join(", ")}.`);
  return all.filter((side) => names.includes(side));
}
