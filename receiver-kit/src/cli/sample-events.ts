import { randomBytes } from "node:crypto";
import type { KnownEvent } from "../webhook-event.ts";

const RECORD_ID = "k3x9m2p7q4r8s1t";
const supporter = { donor_name: "Zoë 🎉", message: "Grüße aus Köln — 日本" };

/** The content of `data` for each kind. */
const DATA_BY_TYPE: {
  readonly [Event in KnownEvent as Event["type"]]: (now: string) => Event["data"];
} = {
  "donation.created": (now) => ({ ...money(500), ...supporter, paid_at: now }),
  "donation.refunded": () => ({ ...money(500), refunded_amount_cents: 200 }),
  "donation.chargeback": () => ({ ...money(500), status: "disputed" }),
  "subscription.created": (now) => ({
    ...money(499),
    ...supporter,
    subscription_id: "n5v8b2c6x1z9l3k",
    started_at: now,
  }),
};

/** A sample event and its body. */
export interface SampleEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** Creates one event of each kind, with new ids. All are tests. */
export function createSampleEvents(): SampleEvent[] {
  return Object.keys(DATA_BY_TYPE).map((type) => createSampleEvent(type as KnownEvent["type"]));
}

/** Creates an event of one kind. It is a test, so that no receiver does real work for it. */
export function createSampleEvent(type: KnownEvent["type"]): SampleEvent {
  const id = `wev_${randomBytes(8).toString("hex").slice(1)}`;
  // The service's times have microseconds.
  const created_at = `${new Date().toISOString().slice(0, -1)}417Z`;
  const data = DATA_BY_TYPE[type](created_at);
  return { id, type, body: JSON.stringify({ id, type, created_at, test: true, data }) };
}

function money(amount_cents: number) {
  return { id: RECORD_ID, amount_cents, currency: "eur" };
}
