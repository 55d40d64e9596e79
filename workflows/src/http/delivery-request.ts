import { createHmac, createSecretKey } from "node:crypto";

/** The content of one attempt. */
export type DeliveryAttempt = {
  readonly eventId: string;
  /**
   * From 1 in every run. It counts attempts, not requests. A request that is repeated because its kept connection was
   * lost has the same bytes, with the same attempt and timestamp. ADR 0027
   */
  readonly attempt: number;
  /** Unix time of this attempt, not of the event: receivers accept five minutes either way. */
  readonly timestampSeconds: number;
  /** The event's stored bytes. */
  readonly body: Uint8Array;
  /** The whole secret, with `whsec_`. */
  readonly signingSecret: string;
  /** Whether the endpoint asked for the Standard Webhooks headers in addition to the contract's. */
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

/** Returns the signature in hex. The HMAC's key is the text of the signing secret, not decoded. §6.3 */
function serviceSignature(delivery: DeliveryAttempt): string {
  const { timestampSeconds, eventId, body, signingSecret } = delivery;
  return createHmac("sha256", signingSecret)
    .update(`${timestampSeconds}.${eventId}.`)
    .update(body)
    .digest("hex");
}

/** Returns the headers of the Standard Webhooks specification. The HMAC's key is the decoded signing secret. */
function standardWebhooksHeaders(delivery: DeliveryAttempt): Record<string, string> {
  const { timestampSeconds, eventId, body, signingSecret } = delivery;
  // A KeyObject makes the HMAC twice as fast as a buffer does.
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
