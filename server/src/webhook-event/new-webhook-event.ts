import { type WebhookEventData, webhookPayload } from "./webhook-event.ts";
import { kindBits, type WebhookEventKind } from "./webhook-event-kind.ts";

export type EventAccount = {
  readonly blocked: boolean;
  /** When the event happened, in microseconds; later than every earlier event of its record. */
  readonly recordedAt: number;
  /** Creates ids that are ordered by `recordedAt`. */
  readonly newId: () => string;
};

export type ReceivingEndpoint = {
  readonly id: string;
  /** Bits from `kindBits`. */
  readonly kinds: number;
  readonly url: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly standardWebhooks: boolean;
  /** The endpoint receives no event of a record with a smaller amount. */
  readonly minAmountCents: number;
  readonly switchedOn: boolean;
};

/** A webhook event to store, with its deliveries. */
export type NewWebhookEvent = {
  readonly id: string;
  readonly kind: WebhookEventKind;
  readonly test: boolean;
  readonly createdAtMicros: number;
  /** The donation of the event; `undefined` for a test. */
  readonly recordId: string | undefined;
  readonly payload: Buffer;
  readonly deliveries: readonly NewDelivery[];
};

/**
 * A delivery to store. Its first run begins, unless it is paused because its endpoint is off or its account is blocked.
 */
export type NewDelivery = {
  readonly id: string;
  readonly endpoint: ReceivingEndpoint;
  readonly isPaused: boolean;
};

/** Creates those events of a change that at least one endpoint receives, by its kinds and its minimum amount. §6.1 */
export function newWebhookEvents(
  account: EventAccount,
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

/** Creates an owner's test event for one endpoint. §6.2 */
export function newTestEvent(
  account: EventAccount,
  endpoint: ReceivingEndpoint,
  data: WebhookEventData,
): NewWebhookEvent {
  return newEvent(account, [endpoint], data, true);
}

function newEvent(
  account: EventAccount,
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
