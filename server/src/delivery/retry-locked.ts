import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
import { insertOutboxEntries, Task } from "../dispatch/outbox-store.ts";
import { beginRuns, type DeliveryRecord } from "./delivery-store.ts";

/** Begins another run of locked deliveries, and returns the first as it is then. */
export async function retryLocked(
  tx: Transaction,
  accountNo: number,
  deliveries: readonly [DeliveryRecord, ...DeliveryRecord[]],
): Promise<DeliveryRecord> {
  await beginRuns(
    tx,
    accountNo,
    deliveries.map(({ id }) => id),
  );
  await insertOutboxEntries(
    tx,
    deliveries.map(({ id: deliveryId, endpointId, run }) => ({
      ...{ accountNo, deliveryId, endpointId, run: run + 1 },
      task: Task.Attempt,
    })),
  );
  const [first] = deliveries;
  const none = { attempts: 0, lastOutcome: undefined, nextAttemptAt: undefined };
  return { ...first, ...none, state: DeliveryState.Pending, run: first.run + 1 };
}
