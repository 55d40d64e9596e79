import { expect, it } from "vitest";
import { EVENT_TYPES, type KnownEvent } from "../../receiver-kit/src/webhook-event.ts";
import { webhookPayload } from "../../server/src/webhook-event/webhook-event.ts";
import { WebhookEventKind } from "../../server/src/webhook-event/webhook-event-kind.ts";
import { faultsOfWebhookBody, schemaNameOf, webhooksDescription } from "./webhook-bodies.ts";

const record = {
  ...{ recordId: "8k2m4x0q9z7w1ab", amountCents: 1500, refundedAmountCents: 500, currency: "eur" },
  ...{ donorName: "Ada", message: undefined, paidAt: 1_772_366_400_003_417 },
};
const envelope = { id: "wev_4h8j2k6l0m3n5p7", createdAtMicros: record.paidAt, test: false };

/** The fields of the kit's types: the compiler misses none, and takes no other. */
const KIT_FIELDS: {
  [Kind in KnownEvent["type"]]: Record<keyof Extract<KnownEvent, { type: Kind }>["data"], true>;
} = {
  "donation.created": {
    ...{ id: true, amount_cents: true, currency: true },
    ...{ donor_name: true, message: true, paid_at: true },
  },
  "donation.refunded": {
    id: true,
    amount_cents: true,
    refunded_amount_cents: true,
    currency: true,
  },
  "donation.chargeback": { id: true, amount_cents: true, currency: true, status: true },
  "subscription.created": {
    ...{ id: true, subscription_id: true, amount_cents: true, currency: true },
    ...{ donor_name: true, message: true, started_at: true },
  },
};

it("§6.1 openapi-webhooks.yaml describes the kinds that the kit knows, and no others", () => {
  expect(Object.keys(webhooksDescription.webhooks)).toEqual(EVENT_TYPES);
});

it.each(EVENT_TYPES)("§6.2 describes the fields of the kit's %s", (kind) => {
  const { data } = webhooksDescription.components.schemas[schemaNameOf(kind)]?.properties ?? {};
  const { properties } = data as { readonly properties: object };
  expect(Object.keys(properties).toSorted()).toEqual(Object.keys(KIT_FIELDS[kind]).toSorted());
});

it.each([
  { kind: WebhookEventKind.DonationCreated, record },
  { kind: WebhookEventKind.DonationRefunded, record },
  { kind: WebhookEventKind.DonationChargeback, record, status: "dispute_lost" as const },
  { kind: WebhookEventKind.SubscriptionCreated, record, subscriptionId: "sub-1" },
])("§6.2 describes the very body that is sent: kind $kind", (data) => {
  expect(faultsOfWebhookBody(webhookPayload(envelope, data))).toEqual([]);
});

it("refuses a body with a field that is not described, or of an unknown kind", () => {
  const body = JSON.parse(
    webhookPayload(envelope, { kind: WebhookEventKind.DonationCreated, record }).toString("utf8"),
  );
  const faults = (changed: object) => faultsOfWebhookBody(Buffer.from(JSON.stringify(changed)));
  expect(faults({ ...body, data: { ...body.data, email: "a@b.c" } })).not.toEqual([]);
  expect(faults({ ...body, type: "donation.new" })).not.toEqual([]);
});
