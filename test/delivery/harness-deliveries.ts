import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeliveryService, EndpointService, WebhookEventKind } from "@activity/proto";
import { readDeliveryConfig } from "@activity/workflows";
import { expect } from "vitest";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { type RunningTemporal, startTemporal } from "../../dev-stack/src/temporal.ts";
import type { Product } from "../../tools/serve/product.ts";
import { faultsOfWebhookBody } from "../contract/webhook-bodies.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";
import {
  type Behaviour,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
} from "./harness-receiver.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/** Every kind of webhook event. */
export const ALL_KINDS = [
  WebhookEventKind.DONATION_CREATED,
  WebhookEventKind.DONATION_REFUNDED,
  WebhookEventKind.DONATION_CHARGEBACK,
  WebhookEventKind.SUBSCRIPTION_CREATED,
];

/** The whole product with a real Temporal and a receiver over TLS on loopback. */
export type DeliveryStack = {
  readonly stack: TestStack;
  readonly receiver: Receiver;
  /** The file of the CA that certified the receiver. */
  readonly extraCa: string;
  readonly temporal: () => RunningTemporal;
  /**
   * Starts one more instance of the product, which delivers whether the first one does or not. `core` holds
   * further variables of its core.
   */
  startDelivering(core?: Readonly<Record<string, string>>): Promise<Product>;
  /** Ends Temporal as a crash would. */
  killTemporal(): Promise<void>;
  /** Starts it again on the same state. */
  restartTemporal(): Promise<void>;
  /** Ends Temporal, removes all that it knew, and starts it again. */
  loseTemporal(): Promise<void>;
  /** Creates an endpoint at the receiver that chose every kind. */
  createEndpoint(accountId: string): Promise<{ endpointId: string; secret: string }>;
  /** Reads a delivery with its attempts. */
  read(
    accountId: string,
    deliveryId: string,
  ): ReturnType<ReturnType<typeof deliveriesOf>["getDelivery"]>;
  stop(): Promise<void>;
};

const deliveriesOf = (stack: TestStack) => stack.client(DeliveryService);

/** How a stack differs from one that delivers. */
export type DeliveryStackOptions = {
  /** Whether it delivers from the start; else events wait for `startDelivering`. */
  readonly delivers?: boolean;
  /** Further variables of relay and worker. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further variables of the core. */
  readonly core?: Readonly<Record<string, string>>;
};

/** Starts everything. */
export async function startDeliveryStack(
  behaviour: Behaviour,
  { delivers = true, env = {}, core = {} }: DeliveryStackOptions = {},
): Promise<DeliveryStack> {
  const folder = await mkdtemp(join(tmpdir(), "activity-delivery-"));
  const certificates = sharedCertificates();
  const extraCa = join(folder, "ca.pem");
  await writeFile(extraCa, certificates.ca);
  const receiver = await startReceiver(behaviour, certificates.good);
  const startServer = () =>
    startTemporal({
      env: process.env,
      dataDir: join(folder, "temporal"),
      progress: createProgress(),
    });
  let temporal = await startServer();
  const allowed = {
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${receiver.port}`,
    ALLOW_UNSAFE_TARGETS: "development",
  };
  const deliveries = readDeliveryConfig({
    TEMPORAL_ADDRESS: temporal.address,
    WEBHOOK_EXTRA_CA: extraCa,
    ...allowed,
    ...env,
  });
  const stack = await startTestStack({
    env: { ...allowed, ...core },
    ...(delivers && { deliveries }),
  });
  return {
    stack,
    receiver,
    extraCa,
    temporal: () => temporal,
    startDelivering: (core = {}) => stack.startInstance({ deliveries, env: core }),
    killTemporal: () => temporal.kill(),
    async restartTemporal() {
      temporal = await startServer();
    },
    async loseTemporal() {
      await temporal.kill();
      const states = ["", "-wal", "-shm"].map((part) => `state.sqlite${part}`);
      for (const state of states) await rm(join(folder, "temporal", state), { force: true });
      temporal = await startServer();
    },
    async createEndpoint(accountId) {
      const url = `https://127.0.0.1:${receiver.port}/hook`;
      const { endpoint, secret } = await stack
        .client(EndpointService)
        .createEndpoint({ accountId, url, kinds: { kinds: ALL_KINDS } });
      return { endpointId: endpoint?.id ?? "", secret };
    },
    read: (accountId, deliveryId) => deliveriesOf(stack).getDelivery({ accountId, deliveryId }),
    async stop() {
      await stack.stop();
      await temporal.stop();
      await receiver.stop();
      await rm(folder, { recursive: true, force: true });
      // What tests write into the database by hand is an empty object.
      const bodies = receiver.requests.map(({ body }) => body).filter((body) => `${body}` !== "{}");
      expect(bodies.flatMap(faultsOfWebhookBody)).toEqual([]);
    },
  };
}

/** The same, as the tests of a file or group share it. */
export const useDeliveryStack = (behaviour: Behaviour, options?: DeliveryStackOptions) =>
  useStarted(() => startDeliveryStack(behaviour, options));

/** Returns a header of a received request. */
export function headerOf({ headers }: ReceivedRequest, name: string): string {
  return headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1] ?? "";
}

/** Verifies a request as the contract tells receivers to, with a clock of this moment. §6.3 */
export function expectVerified(request: ReceivedRequest, secret: string): void {
  const timestamp = headerOf(request, "Service-Timestamp");
  const id = headerOf(request, "Service-Event-Id");
  const signed = createHmac("sha256", secret).update(`${timestamp}.${id}.`).update(request.body);
  expect(headerOf(request, "Service-Signature")).toBe(`v1=${signed.digest("hex")}`);
  expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(300);
  expect(JSON.parse(request.body.toString("utf8")).id).toBe(id);
}
