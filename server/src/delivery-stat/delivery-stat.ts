import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { deliveryName } from "../dispatch/run-key.ts";
import {
  addToHours,
  deleteOldHours,
  HOUR_MICROS,
  listEndpointsOf,
  lockUncounted,
  markCounted,
  type UncountedAttempt,
} from "./delivery-stat-store.ts";

const INTERVAL_MS = 30_000;
/** Attempts counted, and hours removed, at once: so few that nobody waits long for a lock, and MariaDB goes by the index. */
const CHUNK = 200;
/** The 31 days that an owner may ask for, and one more, so that the first of them is whole. */
const KEPT_MICROS = 32 * 86_400_000_000;

/** Starts counting the attempts that were recorded, and removing old hours; returns how to stop it. ADR 0039 */
export function startAttemptCounting(pool: Pool, log: Log): () => void {
  return startPeriodicJob("counting of attempts", INTERVAL_MS, log, async () => {
    await countAttempts(pool);
    while ((await deleteOldHours(pool, KEPT_MICROS, CHUNK)) === CHUNK);
  });
}

/**
 * Counts every recorded attempt that is not counted yet, each in the hour in which it began. What a transaction
 * adds it marks, so an attempt is counted once, by however many instances and wherever one of them ends.
 */
export async function countAttempts(pool: Pool): Promise<void> {
  while ((await countSome(pool)) === CHUNK);
}

function countSome(pool: Pool): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const attempts = await lockUncounted(tx, CHUNK);
    if (attempts.length === 0) return 0;
    const hours = hoursOf(attempts, await listEndpointsOf(tx, attempts));
    if (hours.length > 0) await addToHours(tx, hours);
    await markCounted(tx, attempts);
    return attempts.length;
  });
}

/** Adds up attempts by endpoint and hour; those whose delivery is gone are in none. */
function hoursOf(
  attempts: readonly UncountedAttempt[],
  deliveries: Awaited<ReturnType<typeof listEndpointsOf>>,
) {
  const endpoints = new Map(deliveries.map((each) => [deliveryName(each), each.endpointId]));
  const counted = attempts.flatMap((attempt) => {
    const endpointId = endpoints.get(deliveryName(attempt));
    const beganAt = attempt.startedAt - (attempt.startedAt % HOUR_MICROS);
    return endpointId === undefined ? [] : [{ ...attempt, endpointId, beganAt }];
  });
  const byHour = Map.groupBy(
    counted,
    (each) => `${each.accountNo} ${each.endpointId} ${each.beganAt}`,
  );
  return Array.from(byHour.values(), (all) => {
    const durations = all.map(({ duration }) => duration);
    const delivered = all.filter(({ isDelivered }) => isDelivered).length;
    const { accountNo = 0, endpointId = "", beganAt = 0 } = all[0] ?? {};
    return {
      ...{ accountNo, endpointId, beganAt, delivered, failed: all.length - delivered },
      totalDuration: durations.reduce((sum, each) => sum + each, 0),
      longestDuration: Math.max(...durations),
    };
  });
}
