import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { readDeliveryConfig } from "@activity/workflows";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { startMysql } from "../../receiver-kit/test/servers/mysql.ts";
import { createAccount, createEndpoint } from "../harness/builders.ts";
import { certify } from "../harness/certify.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { createConsumer } from "./harness-consumer.ts";
import { createFaults } from "./harness-faults.ts";
import { startReceiverProcess } from "./harness-process.ts";
import { requestFrom, sendBytes } from "./harness-wire.ts";

/** The whole product, and one account's receiver built with the packed kit. */
export type KitStack = ReturnType<typeof useKitStack>;

// Without a key, so that only the kit prevents a duplicate.
const CREATE_REWARD = "CREATE TABLE reward (event_id VARCHAR(64) NOT NULL)";

/** Starts everything before the first test of a file and stops it after the last. */
export function useKitStack() {
  const folder = useFolder("kit");
  const dataDir = join(folder, "temporal");
  const temporal = useStarted(() =>
    startTemporal({ env: process.env, dataDir, progress: silentProgress }),
  );
  const server = useStarted(startMysql);
  return useStarted(() => startKit(folder, temporal.address, server.url), 300_000);
}

async function startKit(folder: string, temporalAddress: string, serverUrl: string) {
  createConsumer(folder);
  certify(folder, "ca", "DNS:ca.test");
  certify(folder, "receiver", "IP:127.0.0.1", "ca");
  const file = (name: string) => join(folder, name);
  const ca = readFileSync(file("ca.pem"), "utf8");

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
  const url = (path: string) => `https://127.0.0.1:${port}${path}`;
  const { endpointId, secret } = await createEndpoint(stack, accountId, url("/webhooks"));

  const pool = mysql.createPool(serverUrl);
  await pool.query(CREATE_REWARD);
  /** The event ids of all effects. A duplicate effect appears twice. */
  const readEffects = async () => {
    const [rows] = await pool.query<RowDataPacket[]>("SELECT event_id FROM reward");
    return rows.map((reward) => String(reward.event_id));
  };
  /** Sends an event's request again over TLS, byte for byte. Returns the status, or 0 without an answer. */
  const sendCopy = async (eventId: string, rawHeaders?: readonly string[]): Promise<number> => {
    const headers = rawHeaders ?? faults.headersByEvent.get(eventId) ?? [];
    return sendBytes(port, ca, requestFrom(headers, await readPayload(stack, eventId)));
  };
  const faults = createFaults(sendCopy);
  const program = await startReceiverProcess({
    ...{ folder, port, decide: faults.decide },
    env: {
      ...{ DATABASE_URL: serverUrl, WEBHOOK_SECRET: secret },
      ...{ TLS_KEY_FILE: file("receiver.key"), TLS_CERT_FILE: file("receiver.pem") },
    },
  });
  /** Runs the packed kit's `receiver-kit send`: valid deliveries, and requests that receivers must refuse. */
  const trySend = async () => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file("ca.pem"), WEBHOOK_SECRET: secret };
    const tool = file("node_modules/.bin/receiver-kit");
    const run = promisify(execFile)(tool, ["send", url("/webhooks")], { env });
    return (await run.catch((failed: { stdout: string }) => failed)).stdout;
  };
  return {
    ...{ stack, accountId, endpointId, program, faults, url, sendCopy, trySend, readEffects },
    async stop() {
      await program.stop();
      await pool.end();
      await stack.stop();
    },
  };
}

/** Reads the bytes that every attempt of an event sends. */
async function readPayload(stack: TestStack, eventId: string): Promise<Buffer> {
  const [row] = await stack.database.query<{ payload: Buffer }>(
    "SELECT payload FROM webhook_event WHERE id = ?",
    [eventId],
  );
  if (row === undefined) throw new Error(`there is no event ${eventId}`);
  return row.payload;
}
