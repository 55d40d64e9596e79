import { createHmac, createSecretKey } from "node:crypto";
import { verify as verifyOctokit } from "@octokit/webhooks-methods";
import { sign, verify } from "receiver-kit";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const EVENT_ID = "whe_0123456789abcde";

/** One way from the bytes as they came to a checked, parsed event. */
export interface Contender {
  readonly name: string;
  /** What it leaves unchecked that the others check. */
  readonly without?: string;
  readonly verify: () => unknown;
}

/** Creates what each library needs for one body, each with a good signature of its own. */
export async function createContenders(body: Buffer): Promise<Contender[]> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const timestamp = String(timestampSeconds);
  const text = body.toString();
  const hex = (prefix: string) =>
    createHmac("sha256", SECRET).update(prefix).update(body).digest("hex");

  // Header names as Node's server gives them, among those that come with every request.
  const common = {
    host: "receiver.example",
    "content-type": "application/json",
    "content-length": String(body.length),
    "user-agent": "sender/1.0",
    accept: "*/*",
  };
  const kitHeaders = {
    ...common,
    "service-event-id": EVENT_ID,
    "service-timestamp": timestamp,
    "service-attempt": "1",
    "service-signature": await sign({ secret: SECRET, eventId: EVENT_ID, body, timestampSeconds }),
  };
  const standard = new StandardWebhook(SECRET);
  const standardHeaders = {
    ...common,
    "webhook-id": EVENT_ID,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.sign(EVENT_ID, new Date(timestampSeconds * 1000), text),
  };
  const svix = new SvixWebhook(SECRET);
  const stripe = new Stripe("sk_test_unused");
  const stripeHeader = `t=${timestamp},v1=${hex(`${timestamp}.`)}`;
  const octokitHeader = `sha256=${hex("")}`;
  const keyObject = createSecretKey(Buffer.from(SECRET));

  return [
    {
      name: "receiver-kit",
      verify: () => verify(body, kitHeaders, { secrets: SECRET }),
    },
    { name: "standardwebhooks", verify: () => standard.verify(body, standardHeaders) },
    { name: "svix", verify: () => svix.verify(body, standardHeaders) },
    { name: "stripe", verify: () => stripe.webhooks.constructEvent(body, stripeHeader, SECRET) },
    {
      name: "@octokit/webhooks-methods",
      without: "no timestamp, no id",
      async verify() {
        const decoded = body.toString();
        if (!(await verifyOctokit(SECRET, decoded, octokitHeader))) throw new Error("forged");
        return JSON.parse(decoded);
      },
    },
    {
      name: "(createHmac and JSON.parse alone)",
      without: "no check at all",
      verify() {
        createHmac("sha256", keyObject).update(body).digest();
        return JSON.parse(body.toString());
      },
    },
  ];
}
