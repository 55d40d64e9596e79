import { join } from "node:path";
import { ApiKeyService, DeliveryService, DeliveryState, WebhookEventKind } from "@activity/proto";
import { createServiceCredential, Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { vi } from "vitest";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { createAccount, createEndpoint, createPaidDonation, unique } from "../harness/builders.ts";
import { type Clients, transportTo } from "../harness/clients.ts";
import { createTestDatabase } from "../harness/database.ts";
import { startProgram } from "../start/harness-program.ts";
import { KEYS, NO_TEMPORAL, PARTS, startPart, type Variables } from "./harness-parts.ts";

/** The trace of a caller's own work. */
export const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const DONOR = "Ada of the hidden name";
const WORDS = 'It\'s a "hidden" \\ message; SELECT 1';

/** Core, gateway and deliveries as three processes that send their traces to one endpoint. */
type TracedProduct = Awaited<ReturnType<typeof startTracedProduct>>;

/**
 * Starts the three processes, with files in `folder`. They sample every trace that they begin. The receiver answers
 * with 503 at first.
 */
export async function startTracedProduct(folder: string, endpoint: string) {
  const database = await createTestDatabase();
  const { receiver, trusting } = await startTrustedReceiver(folder, answer(503));
  const dataDir = join(folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: silentProgress });
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: "1" };
  const credential = (...permissions: Permission[]) =>
    createServiceCredential(database.url, unique("test"), permissions);
  const everything = await credential(...Object.values(Permission));
  const forwarding = await credential(Permission.ClientAddressForward);
  const dispatching = await credential(Permission.DeliveryDispatch);
  const core = await startPart("core", {
    ...{ ...traces, ...trusting, ...KEYS, DATABASE_URL: database.url, CORE_PORT: "0" },
  });
  const CORE_URL = `http://127.0.0.1:${core.port}`;
  const gateway = await startPart("gateway", {
    ...{ ...traces, CORE_URL, GATEWAY_PORT: "0", GATEWAY_CREDENTIAL: forwarding },
  });
  const runDeliveries = (temporal: Variables) =>
    startProgram(PARTS.deliveries.program, {
      ...{ ...traces, ...trusting, ...temporal, CORE_URL, CORE_CREDENTIAL: dispatching },
    });
  let deliveries = runDeliveries(NO_TEMPORAL);

  return {
    ...{ database, receiver, gatewayPort: gateway.port },
    /** The credentials, which no trace may show. */
    secrets: [everything, forwarding, dispatching, ...Object.values(KEYS)],
    client: <Service extends DescService>(service: Service, headers: Variables = {}) => {
      const all = { authorization: `Bearer ${everything}`, ...headers };
      return createClient(service, transportTo(CORE_URL, all));
    },
    /** Ends the deliveries process without Temporal and starts one with it. */
    async restartDeliveriesWithTemporal() {
      await deliveries.end();
      deliveries = runDeliveries({ TEMPORAL_ADDRESS: temporal.address });
    },
    async stop() {
      await deliveries.end("SIGKILL");
      for (const part of [gateway, core]) await part.kill();
      await temporal.stop();
      await receiver.stop();
      await database.drop();
    },
  };
}

/**
 * Pays a donation in a sampled trace of the caller. The receiver refuses the first attempt and its process ends.
 * Another process makes the retry, which succeeds. Returns the account, and the texts that no trace may show.
 */
export async function retryInTrace(product: TracedProduct) {
  const { client, database, receiver } = product;
  const accountId = await createAccount(product, { displayName: DONOR });
  const key = { accountId, name: DONOR, validityDays: 30 };
  const { apiKey, secret: apiKeyText } = await client(ApiKeyService).createApiKey(key);
  const hookUrl = `https://127.0.0.1:${receiver.port}/hook`;
  const kinds = [WebhookEventKind.DONATION_CREATED];
  const { endpointId, secret } = await createEndpoint(product, accountId, hookUrl, kinds);
  await donate(product, accountId, "01");
  const find = async (state: DeliveryState) => {
    const { deliveries } = await client(DeliveryService).listDeliveries({ accountId });
    return deliveries.find((each) => each.state === state);
  };
  const patient = { timeout: 40_000, interval: 100 };
  const { id, eventId } = await vi.waitUntil(() => find(DeliveryState.RETRYING), patient);
  receiver.behaviour = answer(200);
  // Skips the minute before the retry.
  await database.query("UPDATE delivery SET next_attempt_at = next_attempt_at - 60000000");
  await database.query("UPDATE delivery_attempt SET started_at = started_at - 60000000");
  await product.restartDeliveriesWithTemporal();
  await vi.waitUntil(() => find(DeliveryState.DELIVERED), patient);
  const ids = [accountId, apiKey?.id ?? "", endpointId, id, eventId];
  const texts = [DONOR, WORDS, "hidden", apiKeyText, secret, hookUrl, `:${receiver.port}`];
  return { accountId, apiKey: apiKeyText, hidden: [...ids, ...texts, ...product.secrets] };
}

/** Pays a donation in the caller's trace, sampled (`01`) or not (`00`). */
export async function donate({ client }: TracedProduct, accountId: string, flags: "00" | "01") {
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-${flags}`;
  const traced: Clients = (service) => client(service, { traceparent });
  await createPaidDonation({ client: traced }, accountId, { donorName: DONOR, message: WORDS });
}
