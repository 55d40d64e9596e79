import { type Burst, delayInOrder, delaysOfOthers } from "./first-attempts.ts";
import { countAsleep, failAll, loseTemporal } from "./retries.ts";
import { seededRandom } from "./seeded-random.ts";
import { fullestOf, placeAccounts, spreadOf, zipfShares } from "./shards.ts";

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

/** Everything that the simulation tells; the same each time. */
export type Simulation = ReturnType<typeof simulate>;

/** Runs the simulation: seconds. */
export function simulate() {
  const random = seededRandom(SEED);
  const places = placeAccounts(ACCOUNTS, random);
  const spread = spreadOf(places, new Float64Array(ACCOUNTS).fill(1 / ACCOUNTS), 0);
  return {
    /** The share of the shard with most accounts, for each number of shards. */
    accounts: SHARDS.map((shards) => fullestOf(spread, shards)),
    /** The largest account's share of all events, and the fullest shard's in the worst draw, by their number. */
    skews: EXPONENTS.map((exponent) => {
      const shares = zipfShares(ACCOUNTS, exponent);
      const draws = Array.from({ length: DRAWS }, () =>
        spreadOf(places, shares, Math.floor(random() * places.length)),
      );
      const worst = (shards: number) => Math.max(...draws.map((draw) => fullestOf(draw, shards)));
      return { exponent, largest: shares[0] ?? 0, fullest: SHARDS.map(worst) };
    }),
    /** With a million events a day, of which this share is to endpoints that never answer. */
    dead: DEAD_SHARES.map((share) => ({
      share,
      asleep: countAsleep(share * EVENTS_A_DAY, random),
      temporalBack: loseTemporal(share * EVENTS_A_DAY, HOUR_SECONDS, random),
    })),
    /** With a million events a day, of which all fail for a time. */
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
