import { randomUUID } from "node:crypto";
import { type AttemptToSign, signedHeaders } from "../src/index.ts";

/** A secret in the sender's format: `whsec_` and 32 bytes in base64. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

/** One HTTP request of the sender. */
export interface Delivery {
  readonly eventId: string;
  readonly body: Buffer;
  readonly headers: Record<string, string>;
}

/** Creates a delivery as the sender does. `attempt` overrides the signed values. */
export async function createDelivery(
  content: Record<string, unknown> = {},
  attempt: Partial<AttemptToSign> = {},
): Promise<Delivery> {
  const eventId = attempt.eventId ?? `wev_${randomUUID()}`;
  const text = JSON.stringify({
    id: eventId,
    type: "donation.created",
    created_at: "2026-01-01T00:00:00.000000Z",
    test: false,
    data: { id: "0123456789abcde", amount_cents: 500, currency: "eur", message: "Grüße 🎉" },
    ...content,
  });
  return createRawDelivery(Buffer.from(text), { ...attempt, eventId });
}

/** Creates a signed delivery of any bytes. */
export async function createRawDelivery(
  body: Buffer,
  attempt: Partial<AttemptToSign> = {},
): Promise<Delivery> {
  const eventId = attempt.eventId ?? "wev_raw";
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({
    secret: SECRET,
    timestampSeconds,
    ...attempt,
    eventId,
    body,
  });
  return { eventId, body, headers };
}
