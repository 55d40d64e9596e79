import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceCredential, Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { unique } from "../harness/builders.ts";
import { transportTo } from "../harness/clients.ts";
import { createTestDatabase } from "../harness/database.ts";
import { startProgram } from "../start/harness-program.ts";
import { KEYS, NO_TEMPORAL, PARTS, startPart } from "./harness-parts.ts";

type Variables = Readonly<Record<string, string>>;

/** Core, gateway and deliveries as three processes that send their traces to one endpoint. */
export type TracedProduct = Awaited<ReturnType<typeof startTracedProduct>>;

/** Starts the three processes. They sample every trace that they begin. */
export async function startTracedProduct(endpoint: string) {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "activity-traces-"));
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
      ...{ ...traces, ...trusting, ...temporal, CORE_URL },
      CORE_CREDENTIAL: dispatching,
    });
  let deliveries = runDeliveries(NO_TEMPORAL);

  return {
    database,
    /** A receiver that at first answers every request with 503. */
    receiver,
    receiverUrl: `https://127.0.0.1:${receiver.port}/hook`,
    gatewayPort: gateway.port,
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
      await rm(folder, { recursive: true, force: true });
    },
  };
}
