import type { Transaction } from "../database/transaction.ts";
import { newId } from "../ids.ts";
import { DeliveryState } from "./delivery-state.ts";
import {
  insertDelivery,
  insertOutboxEntries,
  insertWebhookEvent,
  listReceivingEndpoints,
  type NewOutboxEntry,
  type ReceivingEndpoint,
} from "./outbox-store.ts";
import { type WebhookFact, webhookPayload } from "./webhook-event.ts";
import { newWebhookEventId } from "./webhook-event-id.ts";
import { kindBits } from "./webhook-event-kind.ts";

/** What was committed for one endpoint. */
export type EmittedDelivery = { readonly deliveryId: string; readonly eventId: string };

/**
 * Writes the events of a change that an account's locked transaction makes, and a delivery for each
 * endpoint that chose their kind: both or neither. An event that no endpoint chose is written nowhere.
 */
export async function emitWebhookEvents(
  tx: Transaction,
  accountNo: number,
  facts: readonly WebhookFact[],
): Promise<void> {
  const endpoints = await listReceivingEndpoints(tx, accountNo);
  for (const fact of facts) {
    const chosen = endpoints.filter(({ kinds }) => (kinds & kindBits([fact.kind])) !== 0);
    await writeDeliveries(tx, accountNo, fact, chosen, false);
  }
}

/** Writes a test event and its delivery to one endpoint that is switched on. */
export async function emitTestEvent(
  tx: Transaction,
  accountNo: number,
  endpointId: string,
  factAt: (nowMicros: number) => WebhookFact,
): Promise<EmittedDelivery | undefined> {
  const endpoints = await listReceivingEndpoints(tx, accountNo);
  const [endpoint] = endpoints.filter(({ id, switchedOn }) => id === endpointId && switchedOn);
  if (endpoint === undefined) return undefined;
  return writeDeliveries(tx, accountNo, factAt(endpoint.nowMicros), [endpoint], true);
}

async function writeDeliveries(
  tx: Transaction,
  accountNo: number,
  fact: WebhookFact,
  endpoints: readonly ReceivingEndpoint[],
  test: boolean,
): Promise<EmittedDelivery | undefined> {
  const [first] = endpoints;
  if (first === undefined) return undefined;
  const envelope = { id: newWebhookEventId(), createdAtMicros: first.nowMicros, test };
  const payload = webhookPayload(envelope, fact);
  const { kind } = fact;
  const eventNo = await insertWebhookEvent(tx, { accountNo, kind, payload, ...envelope });
  const entries: NewOutboxEntry[] = [];
  let deliveryId = "";
  for (const { id: endpointId, switchedOn } of endpoints) {
    deliveryId = newId();
    const state = switchedOn ? DeliveryState.Waiting : DeliveryState.Held;
    const { createdAtMicros } = envelope;
    const delivery = { id: deliveryId, accountNo, endpointId, eventNo, kind, test, state };
    const deliveryNo = await insertDelivery(tx, { ...delivery, createdAtMicros });
    if (switchedOn) entries.push({ deliveryNo, accountNo, endpointId, deliveryId, sequence: 1 });
  }
  if (entries.length > 0) await insertOutboxEntries(tx, entries);
  return { deliveryId, eventId: envelope.id };
}
