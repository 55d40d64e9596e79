/** What every webhook event has, whatever its kind. */
interface Envelope<Type extends string, Data> {
  /** Unique event id: repeated deliveries of one event share it. */
  readonly id: string;
  /** The kind of event. */
  readonly type: Type;
  /** When the event happened: ISO 8601, UTC. */
  readonly created_at: string;
  /** True when the streamer asked for a test: no real reward or action may be taken. */
  readonly test: boolean;
  readonly data: Data;
}

interface Money {
  /** Internal record id: the 15 characters after `don_` or `evt_` in the activity feed. */
  readonly id: string;
  /** Original amount in whole cents. */
  readonly amount_cents: number;
  /** Lower case, such as `eur`. */
  readonly currency: string;
}

interface Supporter {
  /** Untrusted text that the supporter wrote; absent or null when there is none. */
  readonly donor_name?: string | null;
  /** Untrusted text that the supporter wrote; absent or null when there is none. */
  readonly message?: string | null;
}

/** A donation was paid. */
export type DonationCreated = Envelope<
  "donation.created",
  Money & Supporter & { readonly paid_at: string }
>;

/** A donation was refunded, in part or in full. */
export type DonationRefunded = Envelope<
  "donation.refunded",
  Money & {
    /** All refunds of this donation so far, in whole cents. */
    readonly refunded_amount_cents: number;
  }
>;

/** A donation's dispute changed. */
export type DonationChargeback = Envelope<
  "donation.chargeback",
  Money & {
    /** The donation's status now. */
    readonly status: string;
  }
>;

/** A subscription's first monthly contribution was paid. */
export type SubscriptionCreated = Envelope<
  "subscription.created",
  Money & Supporter & { readonly subscription_id: string; readonly started_at: string }
>;

/** An event of a kind this version knows. */
export type KnownEvent =
  | DonationCreated
  | DonationRefunded
  | DonationChargeback
  | SubscriptionCreated;

/**
 * The type of a `type` that this version does not know: a string at run time.
 *
 * For the compiler it equals no literal, so that `type === "donation.created"` rules it out, which a
 * plain `string` would not. Write `String(webhookEvent.type)` to compare it with a newer kind.
 */
declare enum UnknownKind {
  kind = "a kind that this version does not know",
}

/** An event of a kind this version does not know. It verified: answer 2xx and leave it alone. */
export type UnknownEvent = Envelope<UnknownKind, Readonly<Record<string, unknown>>>;

/** A verified webhook event: `switch` on its `type`; the default case is the unknown kinds. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/** The kinds of event that this version knows. */
export const EVENT_TYPES = [
  "donation.created",
  "donation.refunded",
  "donation.chargeback",
  "subscription.created",
] as const satisfies readonly KnownEvent["type"][];

/** Tells whether an event is of a kind that this version knows. */
export function isKnownEvent(webhookEvent: WebhookEvent): webhookEvent is KnownEvent {
  return (EVENT_TYPES as readonly string[]).includes(webhookEvent.type);
}
