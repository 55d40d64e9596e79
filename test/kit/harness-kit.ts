import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readDeliveryConfig } from "@activity/workflows";
import mysql, { type RowDataPacket } from "mysql2/promise";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { startMysql } from "../../receiver-kit/test/servers/mysql.ts";
import { makeCertificates } from "../delivery/harness-receiver-certificates.ts";
import { createAccount, createEndpoint } from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { createConsumer } from "./harness-consumer.ts";
import { createFaults } from "./harness-faults.ts";
import { startReceiverProcess } from "./harness-process.ts";
import { requestFrom, sendBytes } from "./harness-wire.ts";

/** The whole product, and one account's receiver built with the packed kit. */
export type KitStack = Awaited<ReturnType<typeof startKitStack>>;

// Without a key, so that only the kit prevents a duplicate.
const CREATE_REWARD = "CREATE TABLE reward (event_id VARCHAR(64) NOT NULL)";

/** Starts everything. After a failure it stops what it had started. */
export async function startKitStack() {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const stopOne of stops.toReversed()) await stopOne();
  };
  try {
    return { ...(await start(stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(stops: (() => unknown)[]) {
  const consumer = createConsumer();
  stops.push(consumer.remove);
  const tls = writeCertificates();
  stops.push(tls.remove);
  const dataDir = join(tls.folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: silentProgress });
  stops.push(() => temporal.stop());

  const port = await findFreePort();
  const allowed = {
    ALLOW_UNSAFE_TARGETS: "development",
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${port}`,
  };
  const deliveries = readDeliveryConfig({
    ...{ TEMPORAL_ADDRESS: temporal.address, WEBHOOK_EXTRA_CA: tls.caFile, ...allowed },
  });
  const stack = await startTestStack({ env: allowed, deliveries });
  stops.push(() => stack.stop());
  const accountId = await createAccount(stack);
  const url = (path: string) => `https://127.0.0.1:${port}${path}`;
  const { endpointId, secret } = await createEndpoint(stack, accountId, url("/webhooks"));

  const server = await startMysql();
  stops.push(() => server.stop());
  const pool = mysql.createPool(server.url);
  stops.push(() => pool.end());
  await pool.query(CREATE_REWARD);
  /** The event ids of all effects. A duplicate effect appears twice. */
  const readEffects = async () => {
    const [rows] = await pool.query<RowDataPacket[]>("SELECT event_id FROM reward");
    return rows.map((reward) => String(reward.event_id));
  };
  /** Sends an event's request again over TLS, byte for byte. Returns the status, or 0 without an answer. */
  const sendCopy = async (eventId: string, rawHeaders?: readonly string[]): Promise<number> => {
    const headers = rawHeaders ?? faults.headersByEvent.get(eventId) ?? [];
    return sendBytes(port, tls.ca, requestFrom(headers, await readPayload(stack, eventId)));
  };
  const faults = createFaults(sendCopy);
  const program = await startReceiverProcess({
    ...{ folder: consumer.folder, program: "express.js", port, decide: faults.decide },
    env: { DATABASE_URL: server.url, ...tls.env, WEBHOOK_SECRET: secret },
  });
  stops.push(() => program.stop());
  /** Runs the packed kit's `receiver-kit send`: valid deliveries, and requests that receivers must refuse. */
  const trySend = async () => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: tls.caFile, WEBHOOK_SECRET: secret };
    const tool = join(consumer.folder, "node_modules/.bin/receiver-kit");
    const run = promisify(execFile)(tool, ["send", url("/webhooks")], { env });
    return (await run.catch((failed: { stdout: string }) => failed)).stdout;
  };
  return { stack, accountId, endpointId, program, faults, url, sendCopy, trySend, readEffects };
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

function writeCertificates() {
  const { ca, good } = makeCertificates();
  const folder = mkdtempSync(join(tmpdir(), "activity-kit-tls-"));
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  return {
    ...{ ca, folder, caFile: write("ca.pem", ca) },
    env: { TLS_KEY_FILE: write("key.pem", good.key), TLS_CERT_FILE: write("cert.pem", good.cert) },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
