import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { afterAll, describe, expect, it } from "vitest";
import {
  type DeliveryAttempt,
  deliveryHeaders,
} from "../../workflows/src/http/delivery-request.ts";
import type { ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { BODY, createSenderHarness, EVENT_ID } from "./harness-receiver-sender.ts";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/** The HMAC-SHA256 that OpenSSL computes for second 1,700,000,000. */
const SIGNATURE = "v1=9393a2d3d967f29e8055e59571faec9e986aeecbfe706d535ebf9141491b3716";

const deliveryOf = (changes: Partial<DeliveryAttempt> = {}): DeliveryAttempt => ({
  eventId: EVENT_ID,
  attempt: 1,
  timestampSeconds: Math.floor(Date.now() / 1000),
  body: BODY,
  signingSecret: SECRET,
  standardWebhooks: false,
  ...changes,
});

const harness = createSenderHarness();
afterAll(() => harness.stop());

/** Sends a delivery over TLS. Returns the request that the receiver got, and the receiver's port. */
async function deliver(delivery: DeliveryAttempt) {
  const { port, requests } = await harness.receive(answer(204, "", ""));
  const url = `https://receiver.test:${port}/hook?x=1`;
  await harness.sender.attempt({ url, headers: deliveryHeaders(delivery), body: delivery.body });
  const [request] = requests;
  if (!request) throw new Error("nothing arrived");
  return { ...request, port };
}

it("§6.2 the delivery request has the contract's headers and nothing of another scheme", async () => {
  const delivery = deliveryOf({ attempt: 3, timestampSeconds: 1_700_000_000 });
  const { port, requestLine, headers, body } = await deliver(delivery);
  expect(requestLine).toBe("POST /hook?x=1 HTTP/1.1");
  expect(headers).toEqual([
    ["host", `receiver.test:${port}`],
    ["connection", "keep-alive"],
    ["Content-Type", "application/json"],
    ["User-Agent", "Service-Webhooks/1"],
    ["Service-Event-Id", EVENT_ID],
    ["Service-Timestamp", "1700000000"],
    ["Service-Attempt", "3"],
    ["Service-Signature", SIGNATURE],
    ["content-length", String(BODY.length)],
  ]);
  expect(body).toEqual(BODY);
});

describe("Standard Webhooks beside the contract's headers", () => {
  const lowerCased = ({ headers }: ReceivedRequest) =>
    Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

  it.each([
    ["standardwebhooks", StandardWebhook],
    ["svix", SvixWebhook],
  ] as const)("the package %s accepts what was delivered", async (_name, Webhook) => {
    const request = await deliver(deliveryOf({ standardWebhooks: true }));
    const { body } = request;
    expect(body).toEqual(BODY);
    const verify = () => new Webhook(SECRET).verify(body.toString(), lowerCased(request));
    expect(verify).not.toThrow();
  });

  it("come after the contract's, which stay as they are", () => {
    const plain = deliveryHeaders(deliveryOf({ timestampSeconds: 1 }));
    const both = deliveryHeaders(deliveryOf({ timestampSeconds: 1, standardWebhooks: true }));
    expect(both).toMatchObject(plain);
    expect(Object.keys(both).slice(Object.keys(plain).length)).toEqual([
      "webhook-id",
      "webhook-timestamp",
      "webhook-signature",
    ]);
  });
});
