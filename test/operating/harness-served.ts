import { join } from "node:path";
import { createServiceCredential, Permission } from "@activity/server";
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
 * `npm run serve` with its own Temporal and receiver. Starts Temporal and the receiver, with their files in `folder`.
 * Tests start the product.
 */
export async function startServedStack(folder: string, behaviour: Behaviour) {
  const { receiver, trusting } = await startTrustedReceiver(folder, behaviour);
  const dataDir = join(folder, "temporal");
  const server = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const [corePort = 0, gatewayPort = 0, metricsPort = 0, dashboardPort] = await findFreePorts(4);
  const env = {
    ...{ ...KEYS, ...trusting, TEMPORAL_ADDRESS: server.address, METRICS_PORT: `${metricsPort}` },
    ...{ CORE_PORT: `${corePort}`, GATEWAY_PORT: `${gatewayPort}` },
    ...{ DASHBOARD_PORT: `${dashboardPort}`, DASHBOARD_URL: "https://dash.example.com" },
  };
  let credential = "";
  let run: Run | undefined;
  const stopProduct = async () => void (await run?.end());

  return {
    receiver,
    stopProduct,
    /** Starts the product on a database. Waits until it delivers. */
    async start(databaseUrl: string) {
      run = startProgram("tools/serve/serve.ts", { ...env, DATABASE_URL: databaseUrl });
      await run.untilSaid("deliveries run");
      credential = await createServiceCredential(databaseUrl, "test", Object.values(Permission));
    },
    /** The whole log. */
    log: () => run?.output() ?? "",
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    http: (path: string, apiKey: string) => requestOf(gatewayPort, path, { apiKey }),
    /** Clients of the core with every permission. */
    client: clientsOf(`http://127.0.0.1:${corePort}`, () => credential),
    async stop() {
      await stopProduct();
      await server.stop();
      await receiver.stop();
    },
  };
}
