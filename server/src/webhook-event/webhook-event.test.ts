import { expect, it } from "vitest";
import { type WebhookEventData, webhookPayload } from "./webhook-event.ts";
import { WebhookEventKind } from "./webhook-event-kind.ts";

const record = {
  recordId: "r00000000000001",
  amountCents: 9_007_199_254_740_991,
  refundedAmountCents: 250,
  currency: "eur",
  donorName: 'Zoë "★" 😀',
  message: "line\nline\u2028\u0000",
  paidAt: 1_790_000_000_000_001,
};
const payload = (data: WebhookEventData, test = false) =>
  webhookPayload(
    { id: "wev_e00000000000001", createdAtMicros: 1_790_000_001_500_000, test },
    data,
  ).toString("utf8");
const HEAD = (type: string, test = false) =>
  `{"id":"wev_e00000000000001","type":"${type}","created_at":"2026-09-21T14:13:21.500000Z","test":${test},"data":`;

it("creates the exact bytes of donation.created, with any Unicode text and the largest amount", () => {
  expect(payload({ kind: WebhookEventKind.DonationCreated, record })).toBe(
    `${HEAD("donation.created")}{"id":"r00000000000001","amount_cents":9007199254740991,"currency":"eur","donor_name":"Zoë \\"★\\" 😀","message":"line\\nline\u2028\\u0000","paid_at":"2026-09-21T14:13:20.000001Z"}}`,
  );
});

it("has null for a missing name or text, and test only for a test", () => {
  const anonymous = { ...record, donorName: undefined, message: undefined };
  expect(payload({ kind: WebhookEventKind.DonationCreated, record: anonymous }, true)).toBe(
    `${HEAD("donation.created", true)}{"id":"r00000000000001","amount_cents":9007199254740991,"currency":"eur","donor_name":null,"message":null,"paid_at":"2026-09-21T14:13:20.000001Z"}}`,
  );
});

it("creates donation.refunded with the amount refunded so far", () => {
  expect(payload({ kind: WebhookEventKind.DonationRefunded, record })).toBe(
    `${HEAD("donation.refunded")}{"id":"r00000000000001","amount_cents":9007199254740991,"refunded_amount_cents":250,"currency":"eur"}}`,
  );
});

it("creates donation.chargeback with the donation's current status", () => {
  expect(
    payload({ kind: WebhookEventKind.DonationChargeback, record, status: "dispute_lost" }),
  ).toBe(
    `${HEAD("donation.chargeback")}{"id":"r00000000000001","amount_cents":9007199254740991,"currency":"eur","status":"dispute_lost"}}`,
  );
});

it("creates subscription.created with the service's own subscription id", () => {
  const data = { kind: WebhookEventKind.SubscriptionCreated, record, subscriptionId: "s1" };
  expect(payload(data)).toBe(
    `${HEAD("subscription.created")}{"id":"r00000000000001","subscription_id":"s1","amount_cents":9007199254740991,"currency":"eur","donor_name":"Zoë \\"★\\" 😀","message":"line\\nline\u2028\\u0000","started_at":"2026-09-21T14:13:20.000001Z"}}`,
  );
});
