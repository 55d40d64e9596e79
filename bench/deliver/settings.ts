import { readOptions, wholeNumber } from "../command-line.ts";

/** How much of everything a run makes. */
export type Settings = {
  readonly name: "full" | "short";
  /** Whether each case runs once before it counts. */
  readonly warmsUp: boolean;
  readonly rounds: number;
  /** Empty workflows of one measurement of the floor. */
  readonly floor: number;
  /** Deliveries of one backlog. */
  readonly backlog: number;
  /** Accounts that the second backlog is spread over. */
  readonly accounts: number;
  /** Deliveries of a backlog whose receiver fails: fewer, so that no retry falls due meanwhile. */
  readonly failing: number;
  /** Deliveries of a backlog each of which is a workflow: fewer, because they are slower than the floor. */
  readonly workflows: number;
  readonly steadySeconds: number;
  /** Deliveries asleep in a second stack, measured in turn with the first; 0 leaves it out. */
  readonly sleepers: number;
  readonly profile: boolean;
};

const FULL: Settings = {
  name: "full",
  warmsUp: true,
  rounds: 3,
  floor: 1_000,
  backlog: 10_000,
  accounts: 1_000,
  failing: 2_000,
  workflows: 1_000,
  steadySeconds: 30,
  sleepers: 100_000,
  profile: false,
};
const SHORT: Settings = {
  name: "short",
  warmsUp: false,
  rounds: 1,
  floor: 50,
  backlog: 200,
  accounts: 20,
  failing: 50,
  workflows: 20,
  steadySeconds: 1,
  sleepers: 50,
  profile: false,
};

export const USAGE = `npm run bench:deliver -- [--short] [--profile] [--sleepers ${FULL.sleepers}] [--rounds ${FULL.rounds}] [--backlog ${FULL.backlog}]
  --short    little of everything: only to see that it runs; nothing is written to results/
  --sleepers how many deliveries sleep in a second stack, measured in turn with the first; 0 leaves it out
  --profile  one backlog only, and writes results/deliver-profile.md: where the product's process spends its time
`;

const OPTIONS = {
  short: { type: "boolean", default: false },
  profile: { type: "boolean", default: false },
  rounds: { type: "string" },
  backlog: { type: "string" },
  sleepers: { type: "string" },
} as const;

/** Reads the command line. */
export function readSettings(args: string[]): Settings {
  const values = readOptions(args, OPTIONS);
  const usual = values.short ? SHORT : FULL;
  return {
    ...usual,
    rounds: wholeNumber("rounds", values.rounds ?? String(usual.rounds), 1),
    backlog: wholeNumber("backlog", values.backlog ?? String(usual.backlog), 1),
    sleepers: wholeNumber("sleepers", values.sleepers ?? String(usual.sleepers), 0),
    profile: values.profile,
  };
}

/** Returns the name of the results to keep: of a whole run, and of one that only leaves the sleepers out. */
export function keptAs(settings: Settings): "deliver" | "deliver-alone" | undefined {
  if (JSON.stringify(settings) === JSON.stringify(FULL)) return "deliver";
  const alone = { ...FULL, sleepers: 0 };
  return JSON.stringify(settings) === JSON.stringify(alone) ? "deliver-alone" : undefined;
}
