import { KIND_NAMES, WebhookEventKind } from "./webhook-event-kind.ts";

/** The part of a donation or contribution that a webhook event shows. Amounts are in the currency's smallest unit. */
export type WebhookRecord = {
  readonly recordId: string;
  readonly amountCents: number;
  readonly refundedAmountCents: number;
  readonly currency: string;
  readonly donorName: string | undefined;
  readonly message: string | undefined;
  /** When the donation was first paid, in microseconds. */
  readonly paidAt: number;
};

/** The event data that endpoints receive. §6.1 */
export type WebhookEventData =
  | { readonly kind: typeof WebhookEventKind.DonationCreated; readonly record: WebhookRecord }
  | { readonly kind: typeof WebhookEventKind.DonationRefunded; readonly record: WebhookRecord }
  | {
      readonly kind: typeof WebhookEventKind.DonationChargeback;
      readonly record: WebhookRecord;
      /** The donation's current status. */
      readonly status: ChargebackStatus;
    }
  | {
      readonly kind: typeof WebhookEventKind.SubscriptionCreated;
      readonly record: WebhookRecord;
      readonly subscriptionId: string;
    };

/** The statuses that a donation may have after a dispute changed. */
export type ChargebackStatus = "paid" | "refunded" | "disputed" | "dispute_lost";

/** The fields of an event besides its kind and data. */
export type WebhookEnvelope = {
  readonly id: string;
  readonly createdAtMicros: number;
  readonly test: boolean;
};

/** Creates the exact bytes that every attempt sends. §6.2 */
export function webhookPayload(
  { id, createdAtMicros, test }: WebhookEnvelope,
  data: WebhookEventData,
): Buffer {
  const type = KIND_NAMES[data.kind];
  const created_at = isoFromMicros(createdAtMicros);
  return Buffer.from(JSON.stringify({ id, type, created_at, test, data: fieldsOf(data) }), "utf8");
}

function fieldsOf(data: WebhookEventData): Readonly<Record<string, string | number | null>> {
  const { record } = data;
  const { recordId: id, amountCents: amount_cents, currency } = record;
  const supporter = { donor_name: record.donorName ?? null, message: record.message ?? null };
  switch (data.kind) {
    case WebhookEventKind.DonationCreated:
      return { id, amount_cents, currency, ...supporter, paid_at: isoFromMicros(record.paidAt) };
    case WebhookEventKind.DonationRefunded:
      return { id, amount_cents, refunded_amount_cents: record.refundedAmountCents, currency };
    case WebhookEventKind.DonationChargeback:
      return { id, amount_cents, currency, status: data.status };
    case WebhookEventKind.SubscriptionCreated:
      return {
        id,
        subscription_id: data.subscriptionId,
        amount_cents,
        currency,
        ...supporter,
        started_at: isoFromMicros(record.paidAt),
      };
  }
}

/** Formats a time of the database as the HTTP API does: UTC, six fractional digits, `Z`. */
function isoFromMicros(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const fraction = String(1_000_000 + (micros - seconds * 1e6)).slice(1);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}
