import { execFile, spawn } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { DeliveryService, EndpointService } from "@activity/proto";
import { readDeliveryConfig } from "@activity/workflows";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { installProject, runQuietly } from "../../receiver-kit/scripts/install-project.ts";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";
import { startMysql } from "../../receiver-kit/test/servers/mysql.ts";
import { packPackage } from "../../tools/release/published.ts";
import { baseEnv } from "../harness/base-env.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { certify } from "../harness/certify.ts";
import { untilListening } from "../harness/listening.ts";
import { startTestStack } from "../harness/stack.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { type Run, watch } from "../start/harness-program.ts";

const PACKAGES = ["express", "mysql2"];
const STORE = "mysql2.js";
const RECEIVERS = join(import.meta.dirname, "receivers");
const MANIFEST = createRequire(import.meta.url).resolve("receiver-kit/package.json");
// Without a key, so that only the kit prevents a duplicate.
const CREATE_REWARD = "CREATE TABLE reward (event_id VARCHAR(64) NOT NULL)";

/** Starts the whole product, and one account's receiver built with the packed kit. */
export function useKitStack() {
  const folder = useFolder("kit");
  const temporal = useTemporal(folder);
  const server = useStarted(startMysql);
  return useStarted(() => startKit(folder, temporal.address, server.url), 300_000);
}

async function startKit(folder: string, temporalAddress: string, serverUrl: string) {
  createConsumer(folder);
  certify(folder, "ca", "DNS:ca.test");
  certify(folder, "receiver", "IP:127.0.0.1", "ca");
  const file = (name: string) => join(folder, name);

  const port = await findFreePort();
  const allowed = {
    ALLOW_UNSAFE_TARGETS: "development",
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${port}`,
  };
  const deliveries = readDeliveryConfig({
    ...{ TEMPORAL_ADDRESS: temporalAddress, WEBHOOK_EXTRA_CA: file("ca.pem"), ...allowed },
  });
  const stack = await startTestStack({ env: allowed, deliveries });
  const accountId = await createAccount(stack);
  const url = `https://127.0.0.1:${port}/webhooks`;
  const { endpointId, secret } = await createEndpoint(stack, accountId, url);
  const pool = mysql.createPool(serverUrl);
  await pool.query(CREATE_REWARD);
  const receiver = startReceiver(folder, port, {
    ...{ DATABASE_URL: serverUrl, WEBHOOK_SECRET: secret },
    ...{ TLS_KEY_FILE: file("receiver.key"), TLS_CERT_FILE: file("receiver.pem") },
  });
  await receiver.listening();

  return {
    output: receiver.output,
    sendTest: () => stack.client(EndpointService).sendTest({ accountId, endpointId }),
    /** Stores a donation. Its message is the fault of its first delivery. */
    donate: (message: string) => createPaidDonation(stack, accountId, { message }),
    async readDeliveries() {
      const all = { accountId, pageSize: 100 };
      return (await stack.client(DeliveryService).listDeliveries(all)).deliveries;
    },
    /** The event ids of all effects. A duplicate effect appears twice. */
    async readEffects() {
      const [rows] = await pool.query<RowDataPacket[]>("SELECT event_id FROM reward");
      return rows.map((reward) => String(reward.event_id));
    },
    /** Reads the result of every attempt: its status or its error. */
    async readAnswers() {
      const sql = "SELECT COALESCE(status_code, detail) AS answer FROM delivery_attempt";
      return (await stack.database.query<{ answer: string }>(sql)).map(({ answer }) => answer);
    },
    /** Runs the packed kit's `receiver-kit send`: valid deliveries, and requests that receivers must refuse. */
    async trySend() {
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: file("ca.pem"), WEBHOOK_SECRET: secret };
      const tool = file("node_modules/.bin/receiver-kit");
      const run = promisify(execFile)(tool, ["send", url], { env });
      return (await run.catch((failed: { stdout: string }) => failed)).stdout;
    },
    async stop() {
      await receiver.stop();
      await pool.end();
      await stack.stop();
    },
  };
}

/**
 * Creates the project of a user who receives webhooks: the packed kit, and a framework and a driver in the versions
 * that the kit is tested with. The store is the code of the kit's README.
 */
function createConsumer(folder: string): void {
  const { devDependencies } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const packages = PACKAGES.map((name) => `${name}@${devDependencies[name]}`);
  installProject(folder, [packPackage("receiver-kit", folder), ...packages]);
  runQuietly("npm", ["pkg", "set", "type=module"], folder);
  for (const name of readdirSync(RECEIVERS)) {
    copyFileSync(join(RECEIVERS, name), join(folder, name));
  }
  writeFileSync(join(folder, STORE), readCodeBlocks("README.md").get(STORE) ?? "");
}

/** Starts a receiver, and starts it again whenever it ends, as a supervisor does. */
function startReceiver(cwd: string, port: number, env: NodeJS.ProcessEnv) {
  const runs: Run[] = [];
  let isStopped = false;
  function start(): Run {
    const options = { cwd, env: { ...baseEnv(), ...env, PORT: `${port}` } };
    const run = watch(spawn(process.execPath, ["express.js"], options));
    runs.push(run);
    run.child.once("exit", () => isStopped || start());
    return run;
  }
  const first = start();
  return {
    output: () => runs.map((run) => run.output()).join(""),
    listening: () => untilListening(first.child, port),
    async stop() {
      isStopped = true;
      await runs.at(-1)?.end("SIGKILL");
    },
  };
}
