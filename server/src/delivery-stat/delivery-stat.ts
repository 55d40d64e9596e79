import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
import { type DeliveryKey, deliveryName } from "../dispatch/run-key.ts";
import {
  type AddedHour,
  addToHours,
  type CountedDelivery,
  DURATION_BOUNDS_MS,
  deleteOldHours,
  deleteRunsBefore,
  HOUR_MICROS,
  listCounted,
  lockUncounted,
  markCounted,
  type UncountedAttempt,
} from "./delivery-stat-store.ts";

const INTERVAL_MS = 30_000;
/** Attempts or hours per transaction: few, so that no lock is held for long, and MariaDB still uses the index. */
const CHUNK = 200;
/** How long hours are kept: the 31 days that an owner can request, and one more, so that the first day is complete. */
const KEPT_MICROS = 32 * 86_400_000_000;
/** How many of a delivery's newest runs keep their attempts. An owner may begin any number of runs. */
const KEPT_RUNS = 200;
/**
 * When the number of a counted run is a multiple of this, `removeOldRuns` removes the delivery's old runs. So it needs
 * few statements.
 */
const REMOVED_RUNS = 50;
/**
 * The most attempts that one statement removes. That is more than `REMOVED_RUNS` runs have, so a long list shrinks, but
 * few enough for a fast statement.
 */
const REMOVED_AT_ONCE = 1_000;
const START: DeliveryKey = { accountNo: 0, deliveryId: "" };

/** Starts the job that counts recorded attempts and removes old hours. Returns a function that stops it. ADR 0039 */
export function startAttemptCounting(pool: Pool, log: Log): () => void {
  return startPeriodicJob("counting of attempts", INTERVAL_MS, log, async () => {
    await countAttempts(pool);
    while ((await deleteOldHours(pool, KEPT_MICROS, CHUNK)) === CHUNK);
  });
}

/**
 * Counts every recorded attempt that is not counted yet, in the hour in which it began. One transaction adds an attempt
 * and marks it. So each attempt is counted once, even if several instances count or one of them is killed.
 */
export async function countAttempts(pool: Pool): Promise<void> {
  // Each chunk begins where the last one ended. While a dump keeps its snapshot, InnoDB keeps the index entries of
  // counted attempts, and a search from the start would read them all.
  let from: DeliveryKey | undefined = START;
  while (from !== undefined) {
    const attempts = await countSome(pool, from);
    await removeOldRuns(pool, attempts);
    from = attempts.length < CHUNK ? undefined : attempts.at(-1);
  }
}

/** Counts a chunk, and returns its attempts. */
function countSome(pool: Pool, from: DeliveryKey): Promise<readonly UncountedAttempt[]> {
  return inTransaction(pool, async (tx) => {
    const attempts = await lockUncounted(tx, from, CHUNK);
    if (attempts.length === 0) return attempts;
    const hours = hoursOf(attempts, await listCounted(tx, attempts));
    if (hours.length > 0) await addToHours(tx, hours);
    await markCounted(tx, attempts);
    return attempts;
  });
}

/**
 * Removes the attempts of a delivery's runs before the newest `KEPT_RUNS`. With too many attempts, one transaction
 * could not remove the delivery or erase its donation.
 */
async function removeOldRuns(pool: Pool, counted: readonly UncountedAttempt[]): Promise<void> {
  const many = counted.filter(({ run }) => run > KEPT_RUNS && run % REMOVED_RUNS === 0);
  for (const attempts of Map.groupBy(many, deliveryName).values()) {
    const [first] = attempts;
    if (first === undefined) continue;
    const run = Math.max(...attempts.map((each) => each.run)) - KEPT_RUNS + 1;
    await deleteRunsBefore(pool, { ...first, run }, REMOVED_AT_ONCE);
  }
}

/** Sums attempts by endpoint and hour. Leaves out attempts whose delivery no longer exists. */
function hoursOf(
  attempts: readonly UncountedAttempt[],
  deliveries: readonly CountedDelivery[],
): AddedHour[] {
  const known = new Map(deliveries.map((each) => [deliveryName(each), each]));
  const counted = attempts.flatMap((attempt) => {
    const delivery = known.get(deliveryName(attempt));
    const beganAt = attempt.startedAt - (attempt.startedAt % HOUR_MICROS);
    if (delivery === undefined) return [];
    const endsInFailure = isFailedEnd(attempt, delivery);
    return [{ ...attempt, endpointId: delivery.endpointId, beganAt, endsInFailure }];
  });
  const byHour = Map.groupBy(
    counted,
    (each) => `${each.accountNo} ${each.endpointId} ${each.beganAt}`,
  );
  // Every core adds in the same order. Otherwise two cores that add to the same hours could deadlock.
  const inOrder = [...byHour].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.map(([, all]) => {
    const durations = all.map(({ duration }) => duration);
    const delivered = all.filter(({ isDelivered }) => isDelivered).length;
    const { accountNo = 0, endpointId = "", beganAt = 0 } = all[0] ?? {};
    const inClass = (hundreds: number | undefined) => all.filter(isOfClass(hundreds)).length;
    return {
      ...{ accountNo, endpointId, beganAt, delivered, failed: all.length - delivered },
      totalDuration: durations.reduce((sum, each) => sum + each, 0),
      longestDuration: Math.max(...durations),
      redirects: inClass(3),
      clientErrors: inClass(4),
      serverErrors: inClass(5),
      unanswered: inClass(undefined),
      durations: inRanges(durations),
      failedRuns: all.filter(({ endsInFailure }) => endsInFailure).length,
    };
  });
}

/** Returns a test for failed attempts with a status of this class: 3 means 3xx, `undefined` means no status. */
function isOfClass(hundreds: number | undefined) {
  return ({ isDelivered, statusCode }: UncountedAttempt) =>
    !isDelivered && (statusCode && Math.floor(statusCode / 100)) === hundreds;
}

/** Counts durations, in microseconds, in each range of `DURATION_BOUNDS_MS`. */
function inRanges(durations: readonly number[]): number[] {
  const bounds = [...DURATION_BOUNDS_MS.map((bound) => bound * 1_000), Number.POSITIVE_INFINITY];
  return bounds.map(
    (bound, index) =>
      durations.filter((each) => each <= bound && each > (bounds[index - 1] ?? -1)).length,
  );
}

/** Returns whether a run failed with this attempt. Tests do not count, because their owner sees the outcome. */
function isFailedEnd(attempt: UncountedAttempt, delivery: CountedDelivery): boolean {
  const isLast = delivery.run === attempt.run && delivery.attempts === attempt.attempt;
  return isLast && delivery.state === DeliveryState.Failed && !delivery.test;
}
