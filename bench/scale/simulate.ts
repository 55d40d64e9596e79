import { type Burst, delayInOrder, delaysOfOthers } from "./first-attempts.ts";
import { type Aftermath, countAsleep, failAll, loseTemporal } from "./retries.ts";
import { seededRandom } from "./seeded-random.ts";
import { fullestOf, placeAccounts, spreadOfAccounts, spreadOfEvents } from "./shards.ts";
import { zipfShares } from "./zipf.ts";

const SEED = 17;
const ACCOUNTS = 1_000_000;
/** How often it is drawn anew which account is how large; the worst counts. */
const DRAWS = 20;
const EVENTS_A_DAY = 1_000_000;
const HOUR_SECONDS = 3_600;

export const SHARDS = [2, 4, 8, 16];
/** Zipf's law, which popularity often follows, and a milder and a harsher guess. */
export const EXPONENTS = [0.8, 1, 1.2];
/** Of all events, those to endpoints that never answer. */
const DEAD_SHARES = [0.001, 0.01, 0.1];
const OUTAGE_MINUTES = [10, 60, 360];
export const BURSTS: readonly Burst[] = [1, 10, 100, 1_000].map((hotAccounts) => ({
  ...{ hotAccounts, backlog: 100_000, othersASecond: 100 },
}));

/** A million accounts whose sizes are skewed by an exponent. */
export type Skew = {
  readonly exponent: number;
  /** The share of all events that the largest account has. */
  readonly largest: number;
  /** The share of the fullest shard in the worst draw, for each number of shards. */
  readonly fullest: readonly number[];
};

/** Everything that the simulation tells; the same each time. */
export type Simulation = {
  /** The share of the shard with most accounts, for each number of shards. */
  readonly accounts: readonly number[];
  readonly skews: readonly Skew[];
  /** With a million events a day, of which this share is to endpoints that never answer. */
  readonly dead: readonly {
    readonly share: number;
    readonly asleep: number;
    readonly temporalBack: Aftermath;
  }[];
  /** With a million events a day, of which all fail for a time. */
  readonly outages: readonly ({ readonly minutes: number } & Aftermath)[];
  readonly bursts: readonly (Burst & {
    readonly inOrder: number;
    readonly delays: ReturnType<typeof delaysOfOthers>;
  })[];
};

/** Runs the simulation: seconds. */
export function simulate(): Simulation {
  const random = seededRandom(SEED);
  const places = placeAccounts(ACCOUNTS, random);
  const spread = spreadOfAccounts(places);
  return {
    accounts: SHARDS.map((shards) => fullestOf(spread, shards)),
    skews: EXPONENTS.map((exponent) => {
      const shares = zipfShares(ACCOUNTS, exponent);
      const draws = Array.from({ length: DRAWS }, () => spreadOfEvents(places, shares, random));
      const worst = (shards: number) => Math.max(...draws.map((draw) => fullestOf(draw, shards)));
      return { exponent, largest: shares[0] ?? 0, fullest: SHARDS.map(worst) };
    }),
    dead: DEAD_SHARES.map((share) => ({
      share,
      asleep: countAsleep(share * EVENTS_A_DAY, random),
      temporalBack: loseTemporal(share * EVENTS_A_DAY, HOUR_SECONDS, random),
    })),
    outages: OUTAGE_MINUTES.map((minutes) => ({
      minutes,
      ...failAll(EVENTS_A_DAY, 60 * minutes, random),
    })),
    bursts: BURSTS.map((burst) => ({
      ...burst,
      inOrder: delayInOrder(burst),
      delays: delaysOfOthers(burst, random),
    })),
  };
}
