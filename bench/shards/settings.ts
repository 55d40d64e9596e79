import { readOptions, wholeNumber } from "../command-line.ts";
import type { DataSize } from "../data/bench-accounts.ts";

/** How much of everything a run makes. */
export type Settings = {
  readonly name: "full" | "short";
  /** The numbers of shards that are measured beside the MySQL without Vitess. */
  readonly shards: readonly number[];
  readonly rounds: number;
  readonly warmUpSeconds: number;
  /** How long each side reads, and how long it is written to, in a round. */
  readonly seconds: number;
  /** What cold pages are read of. */
  readonly size: DataSize;
  /** Accounts that are written to; one in ten of them has an endpoint that is delivered to. */
  readonly accounts: number;
  /** Deliveries of a backlog. */
  readonly backlog: number;
};

const FULL: Settings = {
  name: "full",
  shards: [1, 2, 4],
  rounds: 3,
  warmUpSeconds: 3,
  seconds: 6,
  size: { name: "full", historyRecords: 0, loadAccounts: 3_000, recordsPerLoadAccount: 300 },
  accounts: 1_000,
  backlog: 10_000,
};
const SHORT: Settings = {
  name: "short",
  shards: [1, 2],
  rounds: 1,
  warmUpSeconds: 0.3,
  seconds: 0.5,
  size: { name: "short", historyRecords: 0, loadAccounts: 300, recordsPerLoadAccount: 100 },
  accounts: 20,
  backlog: 1_000,
};

export const USAGE = `npm run bench:shards -- [--short] [--rounds ${FULL.rounds}]
  --short  little of everything, and no 4 shards: only to see that it runs
Only a run without options is written to results/shards.*
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
