import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import type { DispatchChanges } from "../../server/src/dispatch/dispatch-store.ts";
import { Task } from "../../server/src/dispatch/outbox-store.ts";
import type { RunKey } from "../../server/src/dispatch/run-key.ts";
import { isRunning, type Tables } from "./memory-tables.ts";

/** Makes the changes of one transaction. */
export function applyChanges(
  tables: Tables,
  { attempts = [], outcomes = [], canceled = [], retried = [], deleted = [] }: DispatchChanges,
): void {
  const { deliveries, entries, nowMicros } = tables;
  const entryOf = ({ deliveryId, run }: RunKey) => {
    const entry = entries.get(deliveryId);
    return entry?.run === run ? entry : undefined;
  };
  const refused = attempts.find(({ deliveryId }) => tables.refused.has(deliveryId));
  if (refused !== undefined) throw new Error(`a row of ${refused.deliveryId} cannot be stored`);
  for (const attempt of attempts) tables.insertAttempt(attempt);
  for (const { keys, after } of outcomes) {
    for (const { deliveryId } of keys) {
      const delivery = deliveries.get(deliveryId);
      if (delivery === undefined) continue;
      tables.watcher.onOutcome?.(delivery, after);
      tables.setState(delivery, after.state);
      delivery.attempts = after.attempts;
      delivery.lastOutcome = after.outcome;
      const { retryInMicros } = after;
      delivery.nextAttemptAt = retryInMicros === undefined ? null : nowMicros() + retryInMicros;
    }
  }
  for (const { deliveryId, run } of canceled) {
    const delivery = deliveries.get(deliveryId);
    if (delivery === undefined || !isRunning(delivery, run)) continue;
    tables.setState(delivery, DeliveryState.Canceled);
    delivery.nextAttemptAt = null;
  }
  for (const run of retried) {
    const entry = entryOf(run);
    if (entry?.task === Task.Attempt) tables.putEntry(entry, Task.BeginRetries);
  }
  for (const run of deleted) if (entryOf(run)) tables.deleteEntry(run.deliveryId);
}
