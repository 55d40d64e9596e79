import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceCredential, Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Connection, WorkflowClient } from "@temporalio/client";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { type Behaviour, type Receiver, startReceiver } from "../delivery/harness-receiver.ts";
import { sharedCertificates } from "../delivery/harness-receiver-certificates.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { type Run, startProgram } from "../start/harness-program.ts";

/** `npm run serve` with a Temporal and a receiver of its own, on one database after the other. */
export type ServedStack = {
  /** Holds Temporal's state, and all else that is written. */
  readonly folder: string;
  readonly receiver: Receiver;
  /** A client of Temporal's default namespace. */
  readonly temporal: WorkflowClient;
  /** Starts the product on a database, with the same keys and ports each time, and waits until it delivers. */
  start(databaseUrl: string): Promise<void>;
  /** Ends it by SIGTERM. */
  stopProduct(): Promise<void>;
  /** All that it logged, on every database. */
  log(): string;
  metrics(): Promise<string>;
  /** Asks the gateway, with an API key. */
  http(path: string, apiKey: string): Promise<HttpAnswer>;
  /** A client of the core that may do everything. */
  client<Service extends DescService>(service: Service): Client<Service>;
  stop(): Promise<void>;
};

const KEYS = { CURSOR_KEYS: "ab".repeat(32), SECRET_KEYS: "cd".repeat(32) };

/** Starts Temporal and the receiver; the product is the test's to start. */
export async function startServedStack(behaviour: Behaviour): Promise<ServedStack> {
  const folder = await mkdtemp(join(tmpdir(), "activity-served-"));
  const certificates = sharedCertificates();
  await writeFile(join(folder, "ca.pem"), certificates.ca);
  const receiver = await startReceiver(behaviour, certificates.good);
  const dataDir = join(folder, "temporal");
  const server = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const connection = await Connection.connect({ address: server.address });
  const [corePort, gatewayPort, metricsPort, dashboardPort] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  const env = {
    ...KEYS,
    TEMPORAL_ADDRESS: server.address,
    CORE_PORT: `${corePort}`,
    GATEWAY_PORT: `${gatewayPort}`,
    METRICS_PORT: `${metricsPort}`,
    DASHBOARD_PORT: `${dashboardPort}`,
    DASHBOARD_URL: "https://dash.example.com",
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${receiver.port}`,
    WEBHOOK_EXTRA_CA: join(folder, "ca.pem"),
    ALLOW_UNSAFE_TARGETS: "development",
  };
  let credential: string | undefined;
  const runs: Run[] = [];
  const transport = createGrpcTransport({
    baseUrl: `http://127.0.0.1:${corePort}`,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${credential}`);
        return next(request);
      },
    ],
  });

  const stopProduct = async () => void (await runs.at(-1)?.end("SIGTERM"));

  return {
    folder,
    receiver,
    temporal: new WorkflowClient({ connection }),
    stopProduct,
    async start(databaseUrl) {
      const one = startProgram("tools/serve/serve.ts", { ...env, DATABASE_URL: databaseUrl });
      runs.push(one);
      await one.untilSaid("deliveries run");
      // A restored database holds it.
      credential ??= await createServiceCredential(databaseUrl, "test", Object.values(Permission));
    },
    log: () => runs.map(({ output }) => output()).join(""),
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    http: (path, apiKey) => requestOf(gatewayPort, path, { apiKey }),
    client: (service) => createClient(service, transport),
    async stop() {
      await stopProduct();
      await connection.close();
      await server.stop();
      await receiver.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
