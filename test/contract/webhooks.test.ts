import { expect, it } from "vitest";
import { createTrials } from "../../receiver-kit/src/cli/trials.ts";
import { EVENT_TYPES, type KnownEvent } from "../../receiver-kit/src/webhook-event.ts";
import { webhookPayload } from "../../server/src/webhook-event/webhook-event.ts";
import { WebhookEventKind } from "../../server/src/webhook-event/webhook-event-kind.ts";
import { MAX_ATTEMPTS } from "../../workflows/src/attempt/retry-schedule.ts";
import { deliveryHeaders } from "../../workflows/src/http/delivery-request.ts";
import {
  faultsOf,
  faultsOfWebhookBody,
  type Schema,
  schemaOf,
  webhooks,
} from "./openapi-document.ts";

const SECRET = `whsec_${"A".repeat(43)}=`;
const record = {
  ...{ recordId: "8k2m4x0q9z7w1ab", amountCents: 1500, refundedAmountCents: 500, currency: "eur" },
  ...{ donorName: "Ada", message: undefined, paidAt: 1_772_366_400_003_417 },
};
const envelope = { id: "wev_4h8j2k6l0m3n5p7", createdAtMicros: record.paidAt, test: false };

type JsonType = "string" | "number" | "boolean" | "null" | "object";
type JsonTypeOf<Value> = Value extends undefined
  ? never
  : Value extends string
    ? "string"
    : Value extends number
      ? "number"
      : Value extends boolean
        ? "boolean"
        : Value extends null
          ? "null"
          : "object";
/** The JSON types of each field. The compiler requires every type and accepts no other. */
type FieldTypes<Shape> = { [Field in keyof Shape]-?: Record<JsonTypeOf<Shape[Field]>, true> };
type OfKind<Kind> = Extract<KnownEvent, { type: Kind }>;

const STRING = { string: true } as const;
const NUMBER = { number: true } as const;
const STRING_OR_NULL = { string: true, null: true } as const;

/** The kit's types of the envelope and of each kind's data. */
const KIT_ENVELOPE: FieldTypes<KnownEvent> = {
  ...{ id: STRING, type: STRING, created_at: STRING, test: { boolean: true } },
  data: { object: true },
};
const KIT_DATA: { [Kind in KnownEvent["type"]]: FieldTypes<OfKind<Kind>["data"]> } = {
  "donation.created": {
    ...{ id: STRING, amount_cents: NUMBER, currency: STRING },
    ...{ donor_name: STRING_OR_NULL, message: STRING_OR_NULL, paid_at: STRING },
  },
  "donation.refunded": {
    ...{ id: STRING, amount_cents: NUMBER, refunded_amount_cents: NUMBER, currency: STRING },
  },
  "donation.chargeback": { id: STRING, amount_cents: NUMBER, currency: STRING, status: STRING },
  "subscription.created": {
    ...{ id: STRING, subscription_id: STRING, amount_cents: NUMBER, currency: STRING },
    ...{ donor_name: STRING_OR_NULL, message: STRING_OR_NULL, started_at: STRING },
  },
};

it("§6.1 openapi-webhooks.yaml describes the kinds that the kit knows, and no others", () => {
  expect(Object.keys(webhooks.webhooks)).toEqual(EVENT_TYPES);
});

it.each(EVENT_TYPES)("§6.2 gives every field of the kit's %s its JSON types", (kind) => {
  const envelope = schemaOf(kind);
  expect(describedTypes(envelope)).toEqual(KIT_ENVELOPE);
  expect(describedTypes(envelope.properties?.data)).toEqual(KIT_DATA[kind]);
});

function describedTypes(schema: Schema | undefined): Record<string, Record<string, true>> {
  const fields = Object.entries(schema?.properties ?? {});
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      Object.fromEntries(typesOf(field).map((type) => [type, true as const])),
    ]),
  );
}

function typesOf(field: Schema): JsonType[] {
  const { allOf = [], type, const: constant, enum: values = [constant] } = field;
  if (allOf.length > 0) return allOf.flatMap(typesOf);
  const types = type === undefined ? values.map((value) => typeof value) : [type].flat();
  // If a type is no JsonType, the comparison with the kit's types fails.
  return types.map((one) => (one === "integer" ? "number" : one) as JsonType);
}

it("allows fields of later versions: only tests refuse undescribed fields", () => {
  expect(JSON.stringify(webhooks)).not.toContain("additionalProperties");
});

it.each([
  { standardWebhooks: false, others: [] },
  { standardWebhooks: true, others: ["webhook-id", "webhook-timestamp", "webhook-signature"] },
])("§6.2 describes the headers that are sent, Standard Webhooks: $standardWebhooks", (sent) => {
  const headers = deliveryHeaders({
    ...{ eventId: envelope.id, attempt: MAX_ATTEMPTS, timestampSeconds: 1_772_366_400 },
    ...{ body: Buffer.from("{}"), signingSecret: SECRET },
    standardWebhooks: sent.standardWebhooks,
  });
  const described = Object.values(webhooks.components.parameters);
  for (const { name, required, schema } of described) {
    expect(Object.hasOwn(headers, name)).toBe(required || sent.others.includes(name));
    if (headers[name] !== undefined) expect(faultsOf(schema, headers[name])).toEqual([]);
  }
  const names = described.map(({ name }) => name);
  const plain = ["Content-Type", "User-Agent"];
  expect(Object.keys(headers).filter((name) => ![...names, ...plain].includes(name))).toEqual([]);
  for (const [kind, { post }] of Object.entries(webhooks.webhooks)) {
    expect(post.parameters, kind).toHaveLength(described.length);
  }
});

it.each([
  { kind: WebhookEventKind.DonationCreated, record },
  { kind: WebhookEventKind.DonationRefunded, record },
  { kind: WebhookEventKind.DonationChargeback, record, status: "dispute_lost" as const },
  { kind: WebhookEventKind.SubscriptionCreated, record, subscriptionId: "sub-1" },
])("§6.2 describes every field of the sent body: kind $kind", (data) => {
  expect(faultsOfWebhookBody(webhookPayload(envelope, data))).toEqual([]);
});

it("§6.2 describes the events and ids of receiver-kit send, of all kinds", async () => {
  const trials = await createTrials(SECRET);
  const eventId = webhooks.components.parameters.EventId?.schema;
  for (const { name, headers, body } of trials) {
    expect(faultsOfWebhookBody(Buffer.from(body)), name).toEqual([]);
    expect(faultsOf(eventId, headers["Service-Event-Id"]), name).toEqual([]);
  }
  const kinds = trials.map(({ body }): unknown => JSON.parse(body).type);
  expect(new Set(kinds)).toEqual(new Set(EVENT_TYPES));
});
