import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import { isOutage } from "../database/outage.ts";
import type { Pool } from "../database/pool.ts";
import { isFromShard } from "../database/shard-error.ts";
import { isReadOnly } from "../database/switch-over.ts";
import { inTransaction } from "../database/transaction.ts";
import { deliveryName } from "../dispatch/run-key.ts";
import {
  deleteDeliveries,
  deleteEventsWithoutDelivery,
  listAttemptsNeeded,
  listOldDeliveries,
  lockEnded,
  type OldDelivery,
  type OldPosition,
} from "./delivery-removal-store.ts";

/** The interval is long, because each removal again reads the old deliveries that stay because of later attempts. */
const INTERVAL_MS = 600_000;
/**
 * Deliveries per transaction: few, because each delivery may have the attempts of about 250 runs, and no lock may be
 * held for long. Their keys have fewer than a thousand values, so that MariaDB uses an index for them (`anyOf`).
 */
const CHUNK = 100;
const DAY_MICROS = 86_400_000_000;
const START: OldPosition = { createdAt: 0, accountNo: 0, deliveryId: "" };

/** Starts a job that runs `removeOldDeliveries`. Returns a function that stops it. */
export function startDeliveryRemoval(pool: Pool, retentionDays: number, log: Log): () => void {
  return startPeriodicJob("removal of old deliveries", INTERVAL_MS, log, () =>
    removeOldDeliveries(pool, retentionDays * DAY_MICROS),
  );
}

/**
 * Removes every ended delivery whose event and last attempt are older than `retentionMicros`, with its attempts.
 * Also removes events that have no delivery left. If a chunk fails, it still tries the others, then throws one
 * failure. It ends at once if the database is read-only, but continues if only one shard is.
 */
export async function removeOldDeliveries(pool: Pool, retentionMicros: number): Promise<void> {
  let failure: unknown;
  let position: OldPosition | undefined = START;
  while (position !== undefined) {
    const old: OldDelivery[] = await listOldDeliveries(pool, position, retentionMicros, CHUNK);
    if (old.length > 0) {
      await remove(pool, old, retentionMicros).catch((cause) => {
        if (isReadOnly(cause) && !isFromShard(cause)) throw cause;
        // Throws an outage only if all failures are outages, because an outage must not hide another failure.
        if (failure === undefined || !isOutage(cause)) failure = cause;
      });
    }
    // The next page begins after this one, so deliveries that stay are not read again.
    position = old.length < CHUNK ? undefined : old.at(-1);
  }
  if (failure !== undefined) throw failure;
}

/** Removes the deliveries that ended long ago, and keeps any that an owner has retried since. */
function remove(
  pool: Pool,
  deliveries: readonly OldDelivery[],
  retentionMicros: number,
): Promise<void> {
  const byName = new Map(deliveries.map((delivery) => [deliveryName(delivery), delivery]));
  return inTransaction(pool, async (tx) => {
    const ended = await lockEnded(tx, deliveries);
    if (ended.length === 0) return;
    // Reads the attempts after locking, to see those that were recorded just before.
    const needed = await listAttemptsNeeded(tx, ended, retentionMicros);
    const kept = new Set(needed.map(deliveryName));
    const removed = ended.filter((key) => !kept.has(deliveryName(key)));
    if (removed.length === 0) return;
    await deleteDeliveries(tx, removed);
    const events = removed.flatMap((key) => byName.get(deliveryName(key)) ?? []);
    await deleteEventsWithoutDelivery(tx, events);
  });
}
