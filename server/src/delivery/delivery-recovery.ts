import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Log } from "../log.ts";
import { startPeriodicJob } from "../periodic-job.ts";
import {
  listEndpointsOfDeleted,
  lockOverdue,
  lockRemaining,
  markWaiting,
} from "./delivery-recovery-store.ts";
import type { OutboxSignal } from "./outbox-signal.ts";
import { insertOutboxEntries } from "./outbox-store.ts";

/**
 * An attempt that is this late is not merely waiting for its turn: a herd of 10,000 that is due at one
 * moment is through in minutes, and an outage that has just ended is too.
 */
const OVERDUE_MICROS = 10 * 60_000_000;
/**
 * 40 a second: an engine on one machine starts 100, and what goes on after its state was lost must not
 * hold up what happens now. 100,000 are back within 45 minutes.
 */
const INTERVAL_MS = 5_000;
const AT_ONCE = 200;
/** A run ends after so many, each of which leaves out at least one endpoint more than the one before. */
const LOOKS = 20;

/** Starts looking for deliveries that the workflow engine lost; returns how to stop it. */
export function startDeliveryRecovery(pool: Pool, outbox: OutboxSignal, log: Log): () => void {
  return startPeriodicJob("recovery of deliveries", INTERVAL_MS, log, async () => {
    const recovered = await recoverOverdueDeliveries(pool, OVERDUE_MICROS);
    if (recovered === 0) return;
    log.info("overdue deliveries go on", { deliveries: recovered });
    outbox.notify();
  });
}

/**
 * Puts some of the deliveries into the outbox again whose next attempt has been overdue for so long, to go
 * on with it; returns how many. For one that the engine has after all this changes nothing. Those of
 * accounts that are being written or deleted are left for a later run, and keep no other account's waiting.
 */
export async function recoverOverdueDeliveries(pool: Pool, overdueMicros: number): Promise<number> {
  const leftOut = new Set(await listEndpointsOfDeleted(pool));
  let recovered = 0;
  for (let look = 0; look < LOOKS && recovered < AT_ONCE; look++) {
    const { lost, skipped } = await recover(pool, overdueMicros, AT_ONCE - recovered, leftOut);
    recovered += lost.length;
    if (skipped.length === 0) break;
    for (const { endpointId } of skipped) leftOut.add(endpointId);
  }
  return recovered;
}

/** Takes one look, and tells which of the overdue deliveries go on and which had to be skipped. */
function recover(pool: Pool, overdueMicros: number, most: number, leftOut: ReadonlySet<string>) {
  return inTransaction(pool, async (tx) => {
    const overdue = await lockOverdue(tx, overdueMicros, most, leftOut);
    if (overdue.length === 0) return { lost: [], skipped: [] };
    const accountNos = await lockRemaining(tx, [...new Set(overdue.map(accountNoOf))]);
    const lost = overdue.filter((entry) => accountNos.has(accountNoOf(entry)));
    const skipped = overdue.filter((entry) => !accountNos.has(accountNoOf(entry)));
    if (lost.length > 0) {
      await markWaiting(
        tx,
        lost.map(({ deliveryNo }) => deliveryNo),
      );
      await insertOutboxEntries(tx, lost);
    }
    return { lost, skipped };
  });
}

const accountNoOf = ({ accountNo }: { readonly accountNo: number }) => accountNo;
