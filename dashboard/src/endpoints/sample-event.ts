import { WebhookEventKind } from "@activity/proto";
import { texts } from "../texts.ts";

const TIME = "2026-01-01T12:00:00.000000Z";
const RECORD_ID = "000000000000000";

/** The made-up donation of a test. */
export type TestDonation = {
  readonly amountCents: bigint;
  readonly donorName: string;
  readonly message: string;
};

/** Returns a sample event of a kind, as endpoints receive it. The ids and times of real events differ. */
export function sampleEvent(kind: WebhookEventKind, donation: TestDonation): string {
  const type = texts.deliveries.kinds[kind];
  const event = { id: "wev_000000000000000", type, created_at: TIME, test: true };
  return JSON.stringify({ ...event, data: dataOf(kind, donation) }, undefined, 2);
}

function dataOf(kind: WebhookEventKind, { amountCents, donorName, message }: TestDonation) {
  const id = RECORD_ID;
  const amount_cents = Number(amountCents);
  const currency = "eur";
  const supporter = { donor_name: donorName || null, message: message || null };
  switch (kind) {
    case WebhookEventKind.DONATION_REFUNDED:
      return { id, amount_cents, refunded_amount_cents: amount_cents, currency };
    case WebhookEventKind.DONATION_CHARGEBACK:
      return { id, amount_cents, currency, status: "disputed" };
    case WebhookEventKind.SUBSCRIPTION_CREATED: {
      const subscription_id = RECORD_ID;
      return { id, subscription_id, amount_cents, currency, ...supporter, started_at: TIME };
    }
    default:
      return { id, amount_cents, currency, ...supporter, paid_at: TIME };
  }
}
