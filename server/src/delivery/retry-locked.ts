import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "./delivery-state.ts";
import { beginSequences, type DeliveryRecord } from "./delivery-store.ts";
import { insertOutboxEntries } from "./outbox-store.ts";

/** Begins another sequence of locked deliveries, and returns the first as it is then. */
export async function retryLocked(
  tx: Transaction,
  accountNo: number,
  deliveries: readonly [DeliveryRecord, ...DeliveryRecord[]],
): Promise<DeliveryRecord> {
  await beginSequences(
    tx,
    deliveries.map(({ deliveryNo }) => deliveryNo),
  );
  await insertOutboxEntries(
    tx,
    deliveries.map(({ deliveryNo, id, endpointId, sequence }) => ({
      deliveryNo,
      accountNo,
      endpointId,
      deliveryId: id,
      sequence: sequence + 1,
    })),
  );
  const [first] = deliveries;
  const none = { attempts: 0, lastOutcome: undefined, nextAttemptAt: undefined };
  return { ...first, ...none, state: DeliveryState.Waiting, sequence: first.sequence + 1 };
}
