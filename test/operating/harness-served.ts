import { join } from "node:path";
import { createServiceCredential, Permission } from "@activity/server";
import { Connection, WorkflowClient } from "@temporalio/client";
import { findFreePorts } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import type { Behaviour } from "../delivery/harness-receiver.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { clientsOf } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import { type Run, startProgram } from "../start/harness-program.ts";
import { KEYS } from "./harness-parts.ts";

/**
 * `npm run serve` with its own Temporal and receiver. It can run on one database after another. Starts Temporal and the
 * receiver, with their files in `folder`. Tests start the product.
 */
export async function startServedStack(folder: string, behaviour: Behaviour) {
  const { receiver, trusting } = await startTrustedReceiver(folder, behaviour);
  const dataDir = join(folder, "temporal");
  const server = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const connection = await Connection.connect({ address: server.address });
  const [corePort = 0, gatewayPort = 0, metricsPort = 0, dashboardPort] = await findFreePorts(4);
  const env = {
    ...{ ...KEYS, ...trusting, TEMPORAL_ADDRESS: server.address, METRICS_PORT: `${metricsPort}` },
    ...{ CORE_PORT: `${corePort}`, GATEWAY_PORT: `${gatewayPort}` },
    ...{ DASHBOARD_PORT: `${dashboardPort}`, DASHBOARD_URL: "https://dash.example.com" },
  };
  let credential = "";
  const runs: Run[] = [];
  const stopProduct = async () => void (await runs.at(-1)?.end());

  return {
    receiver,
    /** A client of Temporal's default namespace. */
    temporal: new WorkflowClient({ connection }),
    stopProduct,
    /** Starts the product on a database, always with the same keys and ports. Waits until it delivers. */
    async start(databaseUrl: string) {
      const run = startProgram("tools/serve/serve.ts", { ...env, DATABASE_URL: databaseUrl });
      runs.push(run);
      await run.untilSaid("deliveries run");
      // A restored database already has the credential.
      credential ||= await createServiceCredential(databaseUrl, "test", Object.values(Permission));
    },
    /** The whole log, on every database. */
    log: () => runs.map(({ output }) => output()).join(""),
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    http: (path: string, apiKey: string) => requestOf(gatewayPort, path, { apiKey }),
    /** Clients of the core with every permission. */
    client: clientsOf(`http://127.0.0.1:${corePort}`, () => credential),
    async stop() {
      await stopProduct();
      await connection.close();
      await server.stop();
      await receiver.stop();
    },
  };
}
