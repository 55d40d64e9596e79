import type { Transaction } from "../database/transaction.ts";
import type { ClaimedAttempt } from "../dispatch/claim.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
import type { OutboxWriter } from "../dispatch/outbox.ts";
import { insertOutboxEntries, type NewOutboxEntry, Task } from "../dispatch/outbox-store.ts";
import { newIdsAt } from "../ids.ts";
import { type WebhookEventData, webhookPayload } from "./webhook-event.ts";
import { kindBits } from "./webhook-event-kind.ts";
import {
  insertDeliveries,
  insertWebhookEvents,
  listReceivingEndpoints,
  type NewDelivery,
  type NewWebhookEvent,
  type ReceivingEndpoint,
} from "./webhook-event-store.ts";

/** What was committed for one endpoint. */
export type EmittedDelivery = { readonly deliveryId: string; readonly eventId: string };

/**
 * Writes the events of a change that an account's locked transaction makes, and a delivery for each
 * endpoint that chose their kind: both or neither. An event that no endpoint chose is written nowhere.
 */
export async function emitWebhookEvents(
  tx: Transaction,
  writer: OutboxWriter,
  accountNo: number,
  events: readonly WebhookEventData[],
): Promise<void> {
  // A change that tells nothing asks nothing of the database.
  if (events.length === 0) return;
  const endpoints = await listReceivingEndpoints(tx, accountNo);
  const chosen = events.flatMap((data) => {
    const receiving = endpoints.filter(({ kinds }) => (kinds & kindBits([data.kind])) !== 0);
    return receiving.length > 0 ? [{ data, endpoints: receiving }] : [];
  });
  if (chosen.length > 0) await write(tx, writer, accountNo, chosen, false);
}

/** Writes a test event and its delivery to one endpoint; nothing when events are not sent to it. */
export async function emitTestEvent(
  tx: Transaction,
  writer: OutboxWriter,
  accountNo: number,
  endpointId: string,
  dataAt: (nowMicros: number) => WebhookEventData,
): Promise<EmittedDelivery | undefined> {
  const endpoints = await listReceivingEndpoints(tx, accountNo);
  const endpoint = endpoints.find(({ id, isOn }) => id === endpointId && isOn);
  if (endpoint === undefined) return undefined;
  const chosen = [{ data: dataAt(endpoint.nowMicros), endpoints: [endpoint] }];
  const [delivery] = await write(tx, writer, accountNo, chosen, true);
  return delivery && { deliveryId: delivery.id, eventId: delivery.eventId };
}

type Chosen = {
  readonly data: WebhookEventData;
  readonly endpoints: readonly ReceivingEndpoint[];
};

async function write(
  tx: Transaction,
  writer: OutboxWriter,
  accountNo: number,
  chosen: readonly Chosen[],
  test: boolean,
): Promise<NewDelivery[]> {
  const createdAtMicros = chosen[0]?.endpoints[0]?.nowMicros ?? 0;
  const eventIds = newIdsAt(createdAtMicros, chosen.length).map((id) => `wev_${id}`);
  const deliveryIds = newIdsAt(
    createdAtMicros,
    chosen.reduce((sum, { endpoints }) => sum + endpoints.length, 0),
  );
  const events: NewWebhookEvent[] = [];
  const deliveries: NewDelivery[] = [];
  const entries: NewOutboxEntry[] = [];
  const written: (ClaimedAttempt | undefined)[] = [];
  for (const [place, { data, endpoints }] of chosen.entries()) {
    const eventId = eventIds[place] ?? "";
    const { kind } = data;
    const payload = webhookPayload({ id: eventId, createdAtMicros, test }, data);
    const recordId = test ? undefined : data.record.recordId;
    events.push({ accountNo, id: eventId, kind, createdAtMicros, recordId, payload });
    for (const { id: endpointId, isOn, url, secret, standardWebhooks } of endpoints) {
      const id = deliveryIds[deliveries.length] ?? "";
      const state = isOn ? DeliveryState.Pending : DeliveryState.Paused;
      deliveries.push({ accountNo, id, endpointId, eventId, kind, test, state, createdAtMicros });
      if (!isOn) continue;
      const run = { accountNo, deliveryId: id, run: 1 };
      const { leaseId } = writer.poller() ?? {};
      entries.push({ ...run, endpointId, task: Task.Attempt, leaseId });
      const content = { endpointId, url, secret, standardWebhooks, eventId, payload };
      written.push(leaseId === undefined ? undefined : { ...run, ...content, leaseId });
    }
  }
  await insertWebhookEvents(tx, events);
  await insertDeliveries(tx, deliveries);
  if (entries.length > 0) await insertOutboxEntries(tx, entries);
  writer.wrote(written);
  return deliveries;
}
