import type { WebhookEventData, WebhookRecord } from "../webhook-event/webhook-event.ts";
import { WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";

/** An id that has the form of a record's id, but belongs to no record. */
const TEST_ID = "000000000000000";

/** The content of an owner's test event. An empty text means none, `undefined` the default. */
export type TestDonation = {
  readonly amountCents: number | undefined;
  readonly donorName: string | undefined;
  readonly message: string | undefined;
};

/** Returns made-up event data for an owner's test. No donation is stored. §6.2 */
export function testEventData(
  kind: WebhookEventKind,
  nowMicros: number,
  { amountCents = 500, donorName = "Test", message = "This is a test." }: TestDonation,
): WebhookEventData {
  const record: WebhookRecord = {
    recordId: TEST_ID,
    amountCents,
    refundedAmountCents: kind === WebhookEventKind.DonationRefunded ? amountCents : 0,
    currency: "eur",
    donorName: donorName || undefined,
    message: message || undefined,
    paidAt: nowMicros,
  };
  switch (kind) {
    case WebhookEventKind.DonationCreated:
    case WebhookEventKind.DonationRefunded:
      return { kind, record };
    case WebhookEventKind.DonationChargeback:
      return { kind, record, status: "disputed" };
    case WebhookEventKind.SubscriptionCreated:
      return { kind, record, subscriptionId: TEST_ID };
  }
}
