import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Log } from "../log.ts";
import { startPeriodicJob } from "../periodic-job.ts";
import {
  deleteEventsOfGone,
  deleteRowsOf,
  listAttemptedSince,
  listDeliveriesByAge,
  lockEnded,
  type OldDelivery,
  TABLES_OF_DELIVERIES,
} from "./delivery-removal-store.ts";
import { RUNNING_STATES } from "./delivery-state.ts";

const INTERVAL_MS = 60_000;
/** Deliveries removed at once, so that a statement holds no lock for long. */
const CHUNK = 500;
const DAY_MICROS = 86_400_000_000;

/** Starts removing deliveries that ended longer ago than so many days; returns how to stop it. */
export function startDeliveryRemoval(pool: Pool, retentionDays: number, log: Log): () => void {
  return startPeriodicJob("removal of old deliveries", INTERVAL_MS, log, () =>
    removeOldDeliveries(pool, retentionDays * DAY_MICROS),
  );
}

/**
 * Removes every ended delivery whose event, and whose last attempt, is older than that, with all that belongs
 * to it, and events that nobody needs then.
 */
export async function removeOldDeliveries(pool: Pool, retentionMicros: number): Promise<void> {
  let afterNo = 0;
  for (;;) {
    const listed = await listDeliveriesByAge(pool, afterNo, retentionMicros, CHUNK);
    const old = listed.filter(({ isOld, state }) => isOld && !RUNNING_STATES.includes(state));
    if (old.length > 0) await remove(pool, old, retentionMicros);
    const last = listed.at(-1);
    if (last === undefined || listed.length < CHUNK) return;
    // What was made later is younger, unless the clock ran ahead meanwhile.
    if (!last.isAhead && !listed.some(({ isOld }) => isOld)) return;
    afterNo = last.deliveryNo;
  }
}

/** Removes those of the deliveries that have ended, and long ago: an owner may have retried one. */
function remove(
  pool: Pool,
  deliveries: readonly OldDelivery[],
  retentionMicros: number,
): Promise<void> {
  const eventNos = new Map(deliveries.map(({ deliveryNo, eventNo }) => [deliveryNo, eventNo]));
  return inTransaction(pool, async (tx) => {
    const ended = await lockEnded(tx, [...eventNos.keys()]);
    if (ended.length === 0) return;
    // Looked up behind the lock: what is recorded just now is seen.
    const attempted = await listAttemptedSince(tx, ended, retentionMicros);
    const removed = ended.filter((deliveryNo) => !attempted.has(deliveryNo));
    if (removed.length === 0) return;
    for (const table of TABLES_OF_DELIVERIES) await deleteRowsOf(tx, table, removed);
    await deleteEventsOfGone(
      tx,
      removed.flatMap((deliveryNo) => eventNos.get(deliveryNo) ?? []),
    );
  });
}
