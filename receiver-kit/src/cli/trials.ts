import { signedHeaders } from "../sign.ts";
import { createSampleEvent, createSampleEvents } from "./sample-events.ts";

const STALE_SECONDS = 10 * 60;

/** One delivery and what a right receiver answers. */
export interface Trial {
  readonly name: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly expected: "2xx" | "4xx";
  /** What is at stake when the answer is another one. */
  readonly why: string;
}

/** Makes one of each kind, a repetition, and what a receiver must refuse. */
export async function createTrials(secret: string): Promise<Trial[]> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const good: Trial[] = [];
  for (const { id: eventId, type, body } of createSampleEvents()) {
    const headers = await signedHeaders({ secret, eventId, body, timestampSeconds });
    const why = "a good delivery is answered 2xx, or it comes again and again";
    good.push({ name: type, headers, body, expected: "2xx", why });
  }
  const [first] = good;
  const repeated: Trial[] = first
    ? [{ ...first, name: "the same event again", why: "a repeated delivery is a success" }]
    : [];
  return [...good, ...repeated, ...(await createBadTrials(secret, timestampSeconds))];
}

async function createBadTrials(secret: string, timestampSeconds: number): Promise<Trial[]> {
  const { id: eventId, body } = createSampleEvent("donation.created");
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
      "anybody can replay it",
    ),
    refuse(
      "ahead, ten minutes early",
      await at(timestampSeconds + STALE_SECONDS),
      "it can be kept for later",
    ),
    refuse("forged signature", forged, "anybody can make it up"),
    refuse("no signature", unsigned, "anybody can make it up"),
    refuse("body changed on the way", headers, "anybody can change it", body.replace("500", "999")),
    refuse(
      "signature of another id",
      { ...headers, "Service-Event-Id": `${eventId}x` },
      "ids can be swapped",
    ),
    refuse(
      "timestamp with letters after it",
      { ...headers, "Service-Timestamp": `${timestampSeconds}abc`, "Service-Signature": signature },
      "it is not the signed text",
    ),
  ];
}
