import { readOptions, UsageError, wholeNumber } from "../command-line.ts";
import { WRITE_CASES } from "./cases/write-case.ts";
import { LayoutName } from "./layouts/layout.ts";

/** How much of everything a run makes. */
export type Settings = {
  readonly name: "full" | "short";
  readonly rounds: number;
  /** How long the product, new in each round, is written to before it counts. */
  readonly warmUpSeconds: number;
  /** How long each case writes. */
  readonly seconds: number;
  /** The same for the steady stream. */
  readonly steadySeconds: number;
  /** Empty workflows of one measurement of the floor. */
  readonly floor: number;
  /** Accounts of the cases that write to many. */
  readonly accounts: number;
  readonly layouts: readonly LayoutName[];
  /** Names of the cases. */
  readonly cases: readonly string[];
};

const LAYOUTS = Object.values(LayoutName);
const CASES = WRITE_CASES.map(({ name }) => name);

const FULL: Settings = {
  name: "full",
  rounds: 3,
  warmUpSeconds: 3,
  seconds: 4,
  steadySeconds: 10,
  floor: 500,
  accounts: 1_000,
  layouts: LAYOUTS,
  cases: CASES,
};
const SHORT: Settings = {
  ...FULL,
  name: "short",
  rounds: 1,
  warmUpSeconds: 0.3,
  seconds: 0.3,
  steadySeconds: 1,
  floor: 20,
  accounts: 20,
  cases: ["8-one", "64-many", "steady"],
};

export const USAGE = `npm run bench:webhooks -- [--short] [--rounds ${FULL.rounds}] [--only name,name]
  --short  little of everything, and three cases unless told: only to see that it runs
  --only   some of ${[...LAYOUTS, ...CASES].join(", ")}
Only a run without options is written to results/webhooks.*
`;

const OPTIONS = {
  short: { type: "boolean", default: false },
  rounds: { type: "string" },
  only: { type: "string" },
} as const;

/** Reads the command line. */
export function readSettings(args: string[]): Settings {
  const values = readOptions(args, OPTIONS);
  const usual = values.short ? SHORT : FULL;
  const names = values.only?.split(",") ?? [];
  if (!names.every((name) => [...LAYOUTS, ...CASES].some((known) => known === name))) {
    throw new UsageError(`--only accepts ${[...LAYOUTS, ...CASES].join(", ")}.`);
  }
  return {
    ...usual,
    rounds: wholeNumber("rounds", values.rounds ?? String(usual.rounds), 1),
    layouts: namedOf(LAYOUTS, names) ?? usual.layouts,
    cases: namedOf(CASES, names) ?? usual.cases,
  };
}

/** Tells whether the settings are those of a whole run, whose results are kept. */
export function isWhole(settings: Settings): boolean {
  return JSON.stringify(settings) === JSON.stringify(FULL);
}

/** Those that are named; `undefined` when none of them is. */
function namedOf<Name extends string>(all: readonly Name[], names: readonly string[]) {
  const named = all.filter((name) => names.includes(name));
  return named.length > 0 ? named : undefined;
}
