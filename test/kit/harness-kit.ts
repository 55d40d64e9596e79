import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EndpointService } from "@activity/proto";
import { readDeliveryConfig } from "@activity/workflows";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { ALL_KINDS } from "../delivery/harness-deliveries.ts";
import { makeCertificates } from "../delivery/harness-receiver-certificates.ts";
import { createAccount } from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { type Consumer, createConsumer } from "./harness-consumer.ts";
import {
  createSqliteDatabase,
  type ReceiverDatabase,
  startMysqlDatabase,
  startPostgresDatabase,
} from "./harness-databases.ts";
import { createFaults, type Faults } from "./harness-faults.ts";
import { type ReceiverProcess, startReceiverProcess } from "./harness-process.ts";
import { requestFrom, sendBytes } from "./harness-wire.ts";

/** A receiver that was built on the packed kit, and the endpoint that the product has for it. */
export type KitReceiver = {
  readonly name: string;
  readonly port: number;
  readonly endpointId: string;
  readonly secret: string;
  readonly process: ReceiverProcess;
  readonly database: ReceiverDatabase;
  readonly faults: Faults;
  /** Returns the URL of a path of the receiver. */
  readonly url: (path: string) => string;
  /** Sends bytes over TLS; returns the status of the answer, or 0 when none came. */
  send(request: Uint8Array): Promise<number>;
  /** Sends an event's request once more, byte for byte. */
  sendCopy(eventId: string, rawHeaders?: readonly string[]): Promise<number>;
};

/** The whole product, and receivers of one account built on the packed kit. */
export type KitStack = {
  readonly stack: TestStack;
  readonly accountId: string;
  readonly receivers: readonly KitReceiver[];
  stop(): Promise<void>;
};

const STARTS = {
  express: startMysqlDatabase,
  fastify: startPostgresDatabase,
  hono: createSqliteDatabase,
} as const;

/** Starts everything. What was started before something failed is stopped. */
export async function startKitStack(): Promise<KitStack> {
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const stopOne of stops.toReversed()) await stopOne();
  };
  try {
    const started = await start(stops);
    return { ...started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(stops: (() => Promise<void> | void)[]): Promise<Omit<KitStack, "stop">> {
  const consumer = createConsumer();
  stops.push(consumer.remove);
  const tls = writeCertificates();
  stops.push(tls.remove);
  const dataDir = join(tls.folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: silentProgress });
  stops.push(() => temporal.stop());

  const names = Object.keys(STARTS) as (keyof typeof STARTS)[]; // Its keys are just these.
  const ports = await Promise.all(names.map(findFreePort));
  const allowed = {
    ALLOW_UNSAFE_TARGETS: "development",
    WEBHOOK_ALLOWED_TARGETS: ports.map((port) => `127.0.0.1:${port}`).join(),
  };
  const deliveries = readDeliveryConfig({
    TEMPORAL_ADDRESS: temporal.address,
    WEBHOOK_EXTRA_CA: tls.caFile,
    ...allowed,
  });
  const stack = await startTestStack({ env: allowed, deliveries });
  stops.push(() => stack.stop());
  const accountId = await createAccount(stack);

  const receivers: KitReceiver[] = [];
  for (const [index, name] of names.entries()) {
    const port = ports[index] ?? 0;
    const database = await STARTS[name]();
    stops.push(() => database.stop());
    const receiver = await startReceiver({ name, port, database, stack, accountId, consumer, tls });
    stops.push(() => receiver.process.stop());
    receivers.push(receiver);
  }
  return { stack, accountId, receivers };
}

/** Creates the endpoint of a receiver and starts its program with the endpoint's secret. */
async function startReceiver(options: {
  readonly name: string;
  readonly port: number;
  readonly database: ReceiverDatabase;
  readonly stack: TestStack;
  readonly accountId: string;
  readonly consumer: Consumer;
  readonly tls: CertificateFiles;
}): Promise<KitReceiver> {
  const { name, port, database, stack, accountId, consumer, tls } = options;
  const url = (path: string) => `https://127.0.0.1:${port}${path}`;
  const { endpoint, secret } = await stack
    .client(EndpointService)
    .createEndpoint({ accountId, url: url("/webhooks"), kinds: { kinds: ALL_KINDS } });
  const send = (request: Uint8Array) => sendBytes(port, tls.ca, request);
  const sendCopy = async (eventId: string, rawHeaders?: readonly string[]) => {
    const headers = rawHeaders ?? faults.headersByEvent.get(eventId) ?? [];
    return send(requestFrom(headers, await readPayload(stack, eventId)));
  };
  const faults = createFaults(sendCopy);
  const receiver = await startReceiverProcess({
    folder: consumer.folder,
    program: `${name}.js`,
    port,
    env: { ...database.env, ...tls.env, WEBHOOK_SECRET: secret },
    decide: faults.decide,
  });
  const endpointId = endpoint?.id ?? "";
  return {
    name,
    port,
    endpointId,
    secret,
    process: receiver,
    database,
    faults,
    url,
    send,
    sendCopy,
  };
}

/** Reads the exact bytes that every attempt of an event sends. */
export async function readPayload(stack: TestStack, eventId: string): Promise<Buffer> {
  const [row] = await stack.database.query<{ payload: Buffer }>(
    "SELECT payload FROM webhook_event WHERE id = ?",
    [eventId],
  );
  if (row === undefined) throw new Error(`there is no event ${eventId}`);
  return row.payload;
}

type CertificateFiles = ReturnType<typeof writeCertificates>;

function writeCertificates() {
  const { ca, good } = makeCertificates();
  const folder = mkdtempSync(join(tmpdir(), "activity-kit-tls-"));
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  return {
    ca,
    folder,
    caFile: write("ca.pem", ca),
    env: { TLS_KEY_FILE: write("key.pem", good.key), TLS_CERT_FILE: write("cert.pem", good.cert) },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
