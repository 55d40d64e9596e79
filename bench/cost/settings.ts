import { readOptions } from "../command-line.ts";

/** How much of everything a run makes. */
export type Settings = {
  readonly name: "full" | "short";
  readonly accounts: number;
  /** Donations that are written and delivered one after the other. */
  readonly oneByOne: number;
  /** Donations that are written 50 at once; what they leave behind is what is stored. */
  readonly together: number;
  /** Whether to wait until the attempts are counted, half a minute, so that it is among the costs. */
  readonly counts: boolean;
  /** Donations whose first attempt fails, so that a minute later there is a second; 0 leaves them out. */
  readonly retried: number;
};

const FULL: Settings = {
  name: "full",
  accounts: 1_000,
  oneByOne: 200,
  together: 10_000,
  counts: true,
  retried: 200,
};
const SHORT: Settings = {
  name: "short",
  accounts: 20,
  oneByOne: 20,
  together: 300,
  counts: false,
  retried: 0,
};

export const USAGE = `npm run bench:cost -- [--short]
  --short  little of everything, and no retries: only to see that it runs
Only a run without options is written to results/cost-mariadb.* or results/cost-mysql.*
`;

/** Reads the command line. */
export function readSettings(args: string[]): Settings {
  const { short } = readOptions(args, { short: { type: "boolean", default: false } });
  return short ? SHORT : FULL;
}
