/** The fields of every kind of webhook event. */
interface Envelope<Type extends string, Data> {
  /** The unique event id. All deliveries of the event have it. */
  readonly id: string;
  /** The kind of event. */
  readonly type: Type;
  /** When the event happened: ISO 8601, UTC. */
  readonly created_at: string;
  /** True if the streamer sent a test. Give no real reward, and take no real action. */
  readonly test: boolean;
  readonly data: Data;
}

interface Money {
  /** The internal record id: the 15 characters after `don_` or `evt_` in the activity feed. */
  readonly id: string;
  /** The original amount in whole cents. */
  readonly amount_cents: number;
  /** ISO 4217 in lower case, such as `eur`. */
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
    /** The sum of all refunds of this donation so far, in whole cents. */
    readonly refunded_amount_cents: number;
  }
>;

/** A donation's dispute changed. */
export type DonationChargeback = Envelope<
  "donation.chargeback",
  Money & {
    /**
     * The donation's status at `created_at`: `paid`, `refunded`, `disputed` or `dispute_lost`. A later event may have
     * come before this one.
     */
    readonly status: string;
  }
>;

/** A subscription's first monthly contribution was paid. */
export type SubscriptionCreated = Envelope<
  "subscription.created",
  Money & Supporter & { readonly subscription_id: string; readonly started_at: string }
>;

/** An event of a kind that this version knows. */
export type KnownEvent =
  | DonationCreated
  | DonationRefunded
  | DonationChargeback
  | SubscriptionCreated;

/**
 * The compiler's type of the field `type` in an unknown event. At run time the field is a string.
 *
 * For the compiler, this type equals no literal. So `type === "donation.created"` excludes unknown events, which it
 * would not do for a plain `string`. Use `String(webhookEvent.type)` to compare the field with a newer kind.
 */
declare enum UnknownKind {
  kind = "a kind that this version does not know",
}

/** A verified event of a kind that this version does not know. Answer 2xx and ignore it. */
export type UnknownEvent = Envelope<UnknownKind, Readonly<Record<string, unknown>>>;

/** A verified webhook event. `switch` on its `type` narrows it. The default case is for unknown kinds. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/** The kinds of event that this version knows. */
export const EVENT_TYPES = [
  "donation.created",
  "donation.refunded",
  "donation.chargeback",
  "subscription.created",
] as const satisfies readonly KnownEvent["type"][];

/** Returns whether this version knows the event's kind. */
export function isKnownEvent(webhookEvent: WebhookEvent): webhookEvent is KnownEvent {
  return (EVENT_TYPES as readonly string[]).includes(webhookEvent.type);
}
