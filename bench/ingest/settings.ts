import { readOptions, wholeNumber } from "../command-line.ts";

/** How much of everything a run makes. */
export type Settings = {
  readonly name: "full" | "short";
  readonly rounds: number;
  readonly warmUpSeconds: number;
  /** How long each side writes in a round, to one account and to many. */
  readonly seconds: number;
  /** Accounts of what is written to many. */
  readonly accounts: number;
  /** Rows of one import. */
  readonly importRows: number;
};

const FULL: Settings = {
  name: "full",
  rounds: 3,
  warmUpSeconds: 3,
  seconds: 6,
  accounts: 1_000,
  importRows: 100_000,
};
const SHORT: Settings = {
  name: "short",
  rounds: 1,
  warmUpSeconds: 0.3,
  seconds: 0.5,
  accounts: 20,
  importRows: 5_000,
};

export const USAGE = `npm run bench:ingest -- [--short] [--rounds ${FULL.rounds}]
  --short  little of everything: only to see that it runs
Only a run without options is written to results/ingest.*
`;

const OPTIONS = {
  short: { type: "boolean", default: false },
  rounds: { type: "string" },
} as const;

/** Reads the command line. */
export function readSettings(args: string[]): Settings {
  const values = readOptions(args, OPTIONS);
  const usual = values.short ? SHORT : FULL;
  return { ...usual, rounds: wholeNumber("rounds", values.rounds ?? String(usual.rounds), 1) };
}

/** Tells whether the settings are those of a whole run, whose results are kept. */
export function isWhole(settings: Settings): boolean {
  return JSON.stringify(settings) === JSON.stringify(FULL);
}
