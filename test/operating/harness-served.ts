import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceCredential, Permission } from "@activity/server";
import { Connection, WorkflowClient } from "@temporalio/client";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import type { Behaviour } from "../delivery/harness-receiver.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { clientsOf } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import { type Run, startProgram } from "../start/harness-program.ts";
import { KEYS } from "./harness-parts.ts";

/** `npm run serve` with a Temporal and a receiver of its own, on one database after the other. */
export type ServedStack = Awaited<ReturnType<typeof startServedStack>>;

/** Starts Temporal and the receiver; the product is the test's to start. */
export async function startServedStack(behaviour: Behaviour) {
  const folder = await mkdtemp(join(tmpdir(), "activity-served-"));
  const { receiver, trusting } = await startTrustedReceiver(folder, behaviour);
  const dataDir = join(folder, "temporal");
  const server = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const connection = await Connection.connect({ address: server.address });
  const [corePort, gatewayPort, metricsPort] = [
    ...[await findFreePort(), await findFreePort(), await findFreePort()],
  ] as [number, number, number];
  const env = {
    ...{ ...KEYS, TEMPORAL_ADDRESS: server.address, METRICS_PORT: `${metricsPort}` },
    ...{ CORE_PORT: `${corePort}`, GATEWAY_PORT: `${gatewayPort}` },
    DASHBOARD_PORT: `${await findFreePort()}`,
    DASHBOARD_URL: "https://dash.example.com",
    ...trusting,
  };
  let credential = "";
  const runs: Run[] = [];
  /** Ends it by SIGTERM. */
  const stopProduct = async () => void (await runs.at(-1)?.end());

  return {
    /** Holds Temporal's state, and all else that is written. */
    folder,
    receiver,
    /** A client of Temporal's default namespace. */
    temporal: new WorkflowClient({ connection }),
    stopProduct,
    /** Starts the product on a database, with the same keys and ports each time, and waits until it delivers. */
    async start(databaseUrl: string) {
      const run = startProgram("tools/serve/serve.ts", { ...env, DATABASE_URL: databaseUrl });
      runs.push(run);
      await run.untilSaid("deliveries run");
      // A restored database holds it.
      credential ||= await createServiceCredential(databaseUrl, "test", Object.values(Permission));
    },
    /** All that it logged, on every database. */
    log: () => runs.map(({ output }) => output()).join(""),
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    /** Asks the gateway, with an API key. */
    http: (path: string, apiKey: string) => requestOf(gatewayPort, path, { apiKey }),
    /** Clients of the core that may do everything. */
    client: clientsOf(`http://127.0.0.1:${corePort}`, () => credential),
    async stop() {
      await stopProduct();
      await connection.close();
      await server.stop();
      await receiver.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
