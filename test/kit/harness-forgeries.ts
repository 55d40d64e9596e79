import { randomBytes } from "node:crypto";
import { requestFrom, signedHeaders } from "./harness-wire.ts";

const MINUTE_SECONDS = 60;

/**
 * Makes requests that no receiver may take for an event, by name; each is of an event that the product
 * does not know, so that an effect of one would show.
 */
export function createForgeries(secret: string, nowMs: number): Map<string, Buffer> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const signed = (change: { secret?: string; timestampSeconds?: number } = {}) => {
    const eventId = `wev_forged${randomBytes(4).toString("hex")}`;
    const body = bodyOf(eventId);
    const signing = { secret, eventId, body, timestampSeconds: nowSeconds, ...change };
    return { body, headers: signedHeaders(signing) };
  };
  const otherSecret = signed({ secret: `whsec_${randomBytes(32).toString("base64")}` });
  const stale = signed({ timestampSeconds: nowSeconds - 6 * MINUTE_SECONDS });
  const early = signed({ timestampSeconds: nowSeconds + 6 * MINUTE_SECONDS });
  const changed = signed();
  const renewed = signed({ timestampSeconds: nowSeconds - 6 * MINUTE_SECONDS });
  const unsigned = signed();
  return new Map([
    ["signed with another secret", requestFrom(otherSecret.headers, otherSecret.body)],
    ["signed six minutes ago", requestFrom(stale.headers, stale.body)],
    ["signed six minutes from now", requestFrom(early.headers, early.body)],
    ["changed by a byte", requestFrom(changed.headers, withOtherAmount(changed.body))],
    ["with a new timestamp", requestFrom(withTimestamp(renewed.headers, nowSeconds), renewed.body)],
    ["without a signature", requestFrom(unsigned.headers.slice(0, -2), unsigned.body)],
  ]);
}

function bodyOf(eventId: string): Buffer {
  const created_at = "2026-01-01T00:00:00.000000Z";
  const data = { id: "0123456789abcde", amount_cents: 500, currency: "eur" };
  const type = "donation.created";
  return Buffer.from(JSON.stringify({ id: eventId, type, created_at, test: false, data }));
}

function withOtherAmount(body: Buffer): Buffer {
  return Buffer.from(body.toString("utf8").replace("500", "900"));
}

function withTimestamp(headers: readonly string[], timestampSeconds: number): string[] {
  return headers.map((text, index) =>
    headers[index - 1] === "Service-Timestamp" ? String(timestampSeconds) : text,
  );
}
