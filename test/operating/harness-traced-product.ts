import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceCredential, Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { type Receiver, startReceiver } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { sharedCertificates } from "../delivery/harness-receiver-certificates.ts";
import { unique } from "../harness/builders.ts";
import { createTestDatabase, type TestDatabase } from "../harness/database.ts";
import { untilListening } from "../harness/listening.ts";
import { startProgram } from "../start/harness-program.ts";

/** Core, gateway and deliveries, each a process of its own that sends its traces to one endpoint. */
export type TracedProduct = {
  readonly database: TestDatabase;
  /** At first it answers each request with 503. */
  readonly receiver: Receiver;
  readonly receiverUrl: string;
  readonly gatewayPort: number;
  /** What nobody who reads traces may learn: the credentials. */
  readonly secrets: readonly string[];
  client<Service extends DescService>(
    service: Service,
    headers?: Readonly<Record<string, string>>,
  ): Client<Service>;
  /** Ends the deliveries, which had no Temporal, and starts others that have one. */
  restartDeliveriesWithTemporal(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts them; of traces that nobody else decided about, each is sampled. */
export async function startTracedProduct(endpoint: string): Promise<TracedProduct> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "activity-traces-"));
  const certificates = sharedCertificates();
  const extraCa = join(folder, "ca.pem");
  await writeFile(extraCa, certificates.ca);
  const receiver = await startReceiver(answer(503), certificates.good);
  const temporal = await startTemporal({
    env: process.env,
    dataDir: join(folder, "temporal"),
    progress: silentProgress,
  });
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: "1" };
  const targets = {
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${receiver.port}`,
    ALLOW_UNSAFE_TARGETS: "development",
  };
  const [corePort, gatewayPort] = [await findFreePort(), await findFreePort()];
  const credential = (...permissions: Permission[]) =>
    createServiceCredential(database.url, unique("test"), permissions);
  const everything = await credential(...Object.values(Permission));
  const forwarding = await credential(Permission.ClientAddressForward);
  const dispatching = await credential(Permission.DeliveryDispatch);
  const started: ChildProcess[] = [];
  const run = (program: string, env: Record<string, string>) => {
    const { child } = startProgram(program, { ...traces, ...env });
    started.push(child);
    return child;
  };
  const CORE_URL = `http://127.0.0.1:${corePort}`;
  const runDeliveries = (TEMPORAL_ADDRESS: string) =>
    run("workflows/src/main.ts", {
      ...{ ...targets, CORE_URL, TEMPORAL_ADDRESS, WEBHOOK_EXTRA_CA: extraCa },
      CORE_CREDENTIAL: dispatching,
    });
  const core = run("server/src/main.ts", {
    ...{ ...targets, DATABASE_URL: database.url, CORE_PORT: `${corePort}` },
    ...{ CURSOR_KEYS: "ab".repeat(32), SECRET_KEYS: "cd".repeat(32) },
  });
  await untilListening(core, corePort);
  const gateway = run("gateway/src/main.ts", {
    ...{ CORE_URL, GATEWAY_PORT: `${gatewayPort}`, GATEWAY_CREDENTIAL: forwarding },
  });
  await untilListening(gateway, gatewayPort);
  // Nobody listens there.
  const deliveries = runDeliveries("127.0.0.1:1");

  return {
    database,
    receiver,
    receiverUrl: `https://127.0.0.1:${receiver.port}/hook`,
    gatewayPort,
    secrets: [everything, forwarding, dispatching, "ab".repeat(32), "cd".repeat(32)],
    client(service, headers = {}) {
      const transport = createGrpcTransport({
        baseUrl: CORE_URL,
        interceptors: [
          (next) => (request) => {
            const all = { authorization: `Bearer ${everything}`, ...headers };
            for (const [name, value] of Object.entries(all)) request.header.set(name, value);
            return next(request);
          },
        ],
      });
      return createClient(service, transport);
    },
    async restartDeliveriesWithTemporal() {
      const ended = once(deliveries, "exit");
      deliveries.kill("SIGTERM");
      await ended;
      runDeliveries(temporal.address);
    },
    async stop() {
      for (const child of started) child.kill("SIGKILL");
      await temporal.stop();
      await receiver.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
