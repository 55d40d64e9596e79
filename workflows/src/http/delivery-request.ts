import { createHmac, createSecretKey } from "node:crypto";

/** What one attempt sends, beside where to. */
export type DeliveryAttempt = {
  readonly eventId: string;
  /**
   * From 1 in every run. It counts attempts, not requests: one that is sent again because its
   * kept connection was lost is the same to the byte, this and the timestamp included. ADR 0027
   */
  readonly attempt: number;
  /** Unix time of this very attempt: a late retry must pass the receiver's five minutes. */
  readonly timestampSeconds: number;
  /** The event's bytes as they were stored, never made anew. */
  readonly body: Uint8Array;
  /** The whole secret, `whsec_` included. */
  readonly signingSecret: string;
  /** Whether the endpoint asked for the Standard Webhooks headers beside the contract's. */
  readonly standardWebhooks: boolean;
};

const SECRET_PREFIX = "whsec_";
const USER_AGENT = "Service-Webhooks/1";

/** Makes the headers of one attempt. §6.2 */
export function deliveryHeaders(delivery: DeliveryAttempt): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "User-Agent": USER_AGENT,
    "Service-Event-Id": delivery.eventId,
    "Service-Timestamp": String(delivery.timestampSeconds),
    "Service-Attempt": String(delivery.attempt),
    "Service-Signature": `v1=${serviceSignature(delivery)}`,
    ...(delivery.standardWebhooks && standardWebhooksHeaders(delivery)),
  };
}

/** The signature in hex, keyed with the secret's text as it stands. §6.3 */
function serviceSignature(delivery: DeliveryAttempt): string {
  const { timestampSeconds, eventId, body, signingSecret } = delivery;
  return createHmac("sha256", signingSecret)
    .update(`${timestampSeconds}.${eventId}.`)
    .update(body)
    .digest("hex");
}

/** The headers of the Standard Webhooks specification, keyed with the decoded secret. */
function standardWebhooksHeaders(delivery: DeliveryAttempt): Record<string, string> {
  const { timestampSeconds, eventId, body, signingSecret } = delivery;
  // With a buffer as its key an HMAC takes Node twice as long.
  const key = createSecretKey(signingSecret.slice(SECRET_PREFIX.length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${eventId}.${timestampSeconds}.`)
    .update(body)
    .digest("base64");
  return {
    "webhook-id": eventId,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": `v1,${signature}`,
  };
}
