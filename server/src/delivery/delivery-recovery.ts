import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Log } from "../log.ts";
import { startPeriodicJob } from "../periodic-job.ts";
import { lockOverdue, lockRemaining, markWaiting } from "./delivery-recovery-store.ts";
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
 * on with it; returns how many. For one that the engine has after all this changes nothing.
 */
export function recoverOverdueDeliveries(pool: Pool, overdueMicros: number): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const overdue = await lockOverdue(tx, overdueMicros, AT_ONCE);
    if (overdue.length === 0) return 0;
    const accountNos = await lockRemaining(tx, [...new Set(overdue.map(accountNoOf))]);
    const lost = overdue.filter((entry) => accountNos.has(accountNoOf(entry)));
    if (lost.length === 0) return 0;
    await markWaiting(
      tx,
      lost.map(({ deliveryNo }) => deliveryNo),
    );
    await insertOutboxEntries(tx, lost);
    return lost.length;
  });
}

const accountNoOf = ({ accountNo }: { readonly accountNo: number }) => accountNo;
