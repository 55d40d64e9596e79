import type { Change } from "../database/change.ts";
import { newOutboxEntry, Task } from "../dispatch/outbox-store.ts";
import type { LockedAccount } from "../write/locked-account.ts";
import { beginRuns, type DeliveryRecord } from "./delivery-store.ts";

/** Begins the next run of each of `deliveries`, which must have at least one. */
export function beginNextRuns(
  { accountNo, nowMicros }: LockedAccount,
  deliveries: readonly DeliveryRecord[],
): Change[] {
  const ids = deliveries.map(({ id }) => id);
  const entries = deliveries.map(({ id: deliveryId, endpointId, run }) => {
    const next = { accountNo, deliveryId, endpointId, run: run + 1 };
    return newOutboxEntry({ ...next, task: Task.Attempt }, nowMicros);
  });
  return [beginRuns(accountNo, ids), ...entries];
}
