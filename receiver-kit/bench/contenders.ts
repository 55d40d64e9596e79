import { createHmac, createSecretKey, hash, timingSafeEqual } from "node:crypto";
import { verify as verifyOctokit } from "@octokit/webhooks-methods";
import { sign, verify } from "receiver-kit";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const EVENT_ID = "wev_0123456789abcde";

/** A function from received bytes to a checked, parsed event. */
export interface Contender {
  readonly name: string;
  /** A floor is not a library: it does only the work that no library can avoid. */
  readonly role: "kit" | "peer" | "floor";
  /** The checks that the contender lacks. */
  readonly without?: string;
  readonly verify: () => unknown;
}

/** Creates the contenders for one body. Each gets a valid signature in its own format. */
export async function createContenders(body: Buffer): Promise<Contender[]> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const timestamp = String(timestampSeconds);
  const text = body.toString();
  const hex = (prefix: string) =>
    createHmac("sha256", SECRET).update(prefix).update(body).digest("hex");

  // The usual headers of a request, with lower-case names as in Node's server.
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

  return [
    {
      name: "receiver-kit",
      role: "kit",
      verify: () => verify(body, kitHeaders, { secrets: SECRET }),
    },
    {
      name: "standardwebhooks",
      role: "peer",
      verify: () => standard.verify(body, standardHeaders),
    },
    { name: "svix", role: "peer", verify: () => svix.verify(body, standardHeaders) },
    {
      name: "stripe",
      role: "peer",
      verify: () => stripe.webhooks.constructEvent(body, stripeHeader, SECRET),
    },
    {
      name: "@octokit/webhooks-methods",
      role: "peer",
      without: "no timestamp, no id",
      async verify() {
        const decoded = body.toString();
        if (!(await verifyOctokit(SECRET, decoded, octokitHeader))) throw new Error("forged");
        return JSON.parse(decoded);
      },
    },
    ...createFloors(body, `${timestamp}.${EVENT_ID}.`),
  ];
}

/** Creates the floors. It prepares their key, prefix and signature, so that the bench does not time that work. */
function createFloors(body: Buffer, prefix: string): Contender[] {
  const key = createSecretKey(Buffer.from(SECRET));
  const macOf = () => createHmac("sha256", key).update(prefix).update(body).digest();
  const signature = macOf();
  const outer = Buffer.alloc(64 + 32); // Every HMAC's second hash reads a block and a digest.
  return [
    {
      name: "(createHmac, timingSafeEqual, JSON)",
      role: "floor",
      without: "no headers, no clock, no checks",
      verify() {
        if (!timingSafeEqual(macOf(), signature)) throw new Error("forged");
        return JSON.parse(body.toString());
      },
    },
    {
      name: "(two bare hashes, JSON)",
      role: "floor",
      without: "no MAC, no comparison either",
      verify() {
        hash("sha256", body, "hex");
        hash("sha256", outer, "hex");
        return JSON.parse(body.toString());
      },
    },
  ];
}
