import { signedHeaders } from "../sign.ts";
import { createSampleEvent, createSampleEvents } from "./sample-events.ts";

const STALE_SECONDS = 10 * 60;

/** A delivery and the expected answer. */
export interface Trial {
  readonly name: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly expected: "2xx" | "4xx";
  /** The consequence of a wrong answer. */
  readonly why: string;
}

/** Creates one delivery of each kind, a repetition, and deliveries that a receiver must refuse. */
export async function createTrials(secret: string): Promise<Trial[]> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const good: Trial[] = [];
  for (const { id: eventId, type, body } of createSampleEvents()) {
    const headers = await signedHeaders({ secret, eventId, body, timestampSeconds });
    const why =
      "a good delivery is retried after 408, 425, 429 and 5xx, and fails at any other answer but 2xx: read the receiver's log";
    good.push({ name: type, headers, body, expected: "2xx", why });
  }
  const [first] = good;
  const repeated: Trial[] = first
    ? [{ ...first, name: "the same event again", why: "a repeated delivery must be answered 2xx" }]
    : [];
  return [...good, ...repeated, ...(await createBadTrials(secret, timestampSeconds))];
}

async function createBadTrials(secret: string, timestampSeconds: number): Promise<Trial[]> {
  const { id: eventId, body } = createSampleEvent("donation.created");
  const { id: otherId } = createSampleEvent("donation.created");
  const at = (seconds: number) =>
    signedHeaders({ secret, eventId, body, timestampSeconds: seconds });
  const headers = await at(timestampSeconds);
  const { "Service-Signature": signature = "", ...unsigned } = headers;
  const refuse = (name: string, bad: Record<string, string>, why: string, text = body): Trial => ({
    name,
    headers: bad,
    body: text,
    expected: "4xx",
    why,
  });
  const forged = { ...headers, "Service-Signature": `v1=${"0".repeat(64)}` };
  return [
    refuse(
      "stale, ten minutes old",
      await at(timestampSeconds - STALE_SECONDS),
      "an attacker can replay it",
    ),
    refuse(
      "ahead, ten minutes early",
      await at(timestampSeconds + STALE_SECONDS),
      "an attacker can keep it for later",
    ),
    refuse("forged signature", forged, "anyone can invent events"),
    refuse("no signature", unsigned, "anyone can invent events"),
    refuse("body changed in transit", headers, "anyone can change it", body.replace("500", "999")),
    refuse(
      "signature of another id",
      { ...headers, "Service-Event-Id": otherId },
      "ids can be swapped",
    ),
    refuse(
      "timestamp with letters after it",
      { ...headers, "Service-Timestamp": `${timestampSeconds}abc`, "Service-Signature": signature },
      "it differs from the signed text",
    ),
  ];
}
