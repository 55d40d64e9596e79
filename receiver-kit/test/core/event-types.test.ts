import { expect, expectTypeOf, it } from "vitest";
import { isKnownEvent, type UnknownEvent, verify, type WebhookEvent } from "../../src/index.ts";
import { createDelivery, SECRET } from "../signed-delivery.ts";

/** Typical code of a receiver. It must compile. */
function describeEvent(webhookEvent: WebhookEvent): string {
  switch (webhookEvent.type) {
    case "donation.created":
      expectTypeOf(webhookEvent.data.amount_cents).toEqualTypeOf<number>();
      expectTypeOf(webhookEvent.data.message).toEqualTypeOf<string | null | undefined>();
      return `paid ${webhookEvent.data.amount_cents}`;
    case "donation.refunded":
      return `refunded ${webhookEvent.data.refunded_amount_cents}`;
    case "donation.chargeback":
      return `now ${webhookEvent.data.status}`;
    case "subscription.created":
      return `subscribed ${webhookEvent.data.subscription_id}`;
    default:
      expectTypeOf(webhookEvent).toEqualTypeOf<UnknownEvent>();
      expectTypeOf(webhookEvent.data.anything).toEqualTypeOf<unknown>();
      return `unknown ${webhookEvent.type}`;
  }
}

it("narrows an event by its type", async () => {
  const { body, headers } = await createDelivery();
  expect(describeEvent(await verify(body, headers, { secrets: SECRET }))).toBe("paid 500");
});

it("passes an unknown kind through", async () => {
  const { body, headers } = await createDelivery({ type: "raid.started", more: 1 });
  const webhookEvent = await verify(body, headers, { secrets: SECRET });
  expect(isKnownEvent(webhookEvent)).toBe(false);
  expect(describeEvent(webhookEvent)).toBe("unknown raid.started");
  expect(webhookEvent).toHaveProperty("more", 1);
});
