import type {
  ChargebackStatus,
  WebhookEventData,
  WebhookRecord,
} from "../webhook-event/webhook-event.ts";
import { WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";
import type { ContributionRecord } from "./contribution.ts";
import { DonationStatus } from "./donation-status.ts";
import type { DonationRecord } from "./donation-store.ts";

/** Returns the webhook events of a payment, a refund, or a dispute that was opened or ended. A test has none. §6.1 */
export function eventsOfChange(
  before: DonationRecord,
  after: DonationRecord,
  change: "pay" | "refund" | "dispute",
): WebhookEventData[] {
  // A repeated change returns the same object.
  if (after === before || after.test) return [];
  const record = webhookRecordFrom(after);
  switch (change) {
    case "pay":
      return [{ kind: WebhookEventKind.DonationCreated, record }];
    case "refund":
      return [{ kind: WebhookEventKind.DonationRefunded, record }];
    case "dispute": {
      const status = chargebackStatus(after.status);
      return [{ kind: WebhookEventKind.DonationChargeback, record, status }];
    }
  }
}

/** Returns the webhook events of a new contribution. A test has none. */
export function eventsOfContribution({
  donation,
  subscriptionId,
  first,
}: ContributionRecord): WebhookEventData[] {
  if (donation.test) return [];
  const record = webhookRecordFrom(donation);
  const created: WebhookEventData = { kind: WebhookEventKind.DonationCreated, record };
  if (!first) return [created];
  return [created, { kind: WebhookEventKind.SubscriptionCreated, record, subscriptionId }];
}

function webhookRecordFrom(donation: DonationRecord): WebhookRecord {
  const { recordedAt } = donation;
  if (recordedAt === undefined)
    throw new Error("a donation that was never paid has no webhook events");
  return {
    recordId: donation.recordId,
    amountCents: donation.amountCents,
    refundedAmountCents: donation.refundedAmountCents,
    currency: donation.currency,
    donorName: donation.donorName,
    message: donation.message,
    paidAt: recordedAt,
  };
}

function chargebackStatus(status: DonationStatus): ChargebackStatus {
  switch (status) {
    case DonationStatus.Paid:
      return "paid";
    case DonationStatus.Refunded:
      return "refunded";
    case DonationStatus.Disputed:
      return "disputed";
    case DonationStatus.DisputeLost:
      return "dispute_lost";
    case DonationStatus.Created:
    case DonationStatus.Deleted:
      throw new Error("a disputed donation is neither unpaid nor deleted");
  }
}
