import { type WebhookEventData, webhookPayload } from "./webhook-event.ts";
import { kindBits, type WebhookEventKind } from "./webhook-event-kind.ts";

/** An account as an event sees it. */
export type TellingAccount = {
  readonly blocked: boolean;
  /** When the event happened, in microseconds: later than every event of its record before. */
  readonly recordedAt: number;
  /** Makes ids that are ordered by the database's clock. */
  readonly newId: () => string;
};

/** An endpoint as an event sees it. */
export type ReceivingEndpoint = {
  readonly id: string;
  /** From `kindBits`. */
  readonly kinds: number;
  readonly url: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly standardWebhooks: boolean;
  /** It is told of no record of less. */
  readonly minAmountCents: number;
  readonly switchedOn: boolean;
};

/** A webhook event to store, with a delivery for each endpoint that is told. */
export type NewWebhookEvent = {
  readonly id: string;
  readonly kind: WebhookEventKind;
  readonly test: boolean;
  readonly createdAtMicros: number;
  /** The donation that it tells of; none of a test. */
  readonly recordId: string | undefined;
  readonly payload: Buffer;
  readonly deliveries: readonly NewDelivery[];
};

/** A delivery to store: its first run is begun, or paused while its endpoint is off or its account blocked. */
export type NewDelivery = {
  readonly id: string;
  readonly endpoint: ReceivingEndpoint;
  readonly isPaused: boolean;
};

/**
 * Makes the events that tell of a change. One that is for no endpoint, by its kind and its record's amount, is written
 * nowhere. §6.1
 */
export function newWebhookEvents(
  account: TellingAccount,
  endpoints: readonly ReceivingEndpoint[],
  data: readonly WebhookEventData[],
): NewWebhookEvent[] {
  return data.flatMap((each) => {
    const receiving = endpoints.filter(
      ({ kinds, minAmountCents }) =>
        (kinds & kindBits([each.kind])) !== 0 && each.record.amountCents >= minAmountCents,
    );
    return receiving.length > 0 ? [newEvent(account, receiving, each, false)] : [];
  });
}

/** Makes an owner's test event for one endpoint. §6.2 */
export function newTestEvent(
  account: TellingAccount,
  endpoint: ReceivingEndpoint,
  data: WebhookEventData,
): NewWebhookEvent {
  return newEvent(account, [endpoint], data, true);
}

function newEvent(
  account: TellingAccount,
  endpoints: readonly ReceivingEndpoint[],
  data: WebhookEventData,
  test: boolean,
): NewWebhookEvent {
  const id = `wev_${account.newId()}`;
  const createdAtMicros = account.recordedAt;
  return {
    id,
    kind: data.kind,
    test,
    createdAtMicros,
    recordId: test ? undefined : data.record.recordId,
    payload: webhookPayload({ id, createdAtMicros, test }, data),
    deliveries: endpoints.map((endpoint) => ({
      id: account.newId(),
      endpoint,
      isPaused: !endpoint.switchedOn || account.blocked,
    })),
  };
}
