import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WebhookEventKind } from "@activity/proto";
import { createServiceCredential, Permission, readConfig } from "@activity/server";
import { readDeliveryConfig } from "@activity/workflows";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import mysql from "mysql2/promise";
import { startDatabase } from "../tools/stack/database.ts";
import { createClients } from "../tools/stack/demo.ts";
import { startProduct } from "../tools/stack/product.ts";
import { createProgress } from "../tools/stack/progress.ts";
import { makeSelfSigned } from "../tools/stack/self-signed.ts";
import { startTemporal } from "../tools/stack/temporal.ts";
import { measureFloor } from "./deliver/floor.ts";

/**
 * Measures deliveries beside the floor of the engine, in one run on one machine: a backlog to one receiver
 * over TLS, and the way from commit to arrival at a steady 20 a second.
 */
const BACKLOG = Number(process.argv[2] ?? 2_000);
const FLOOR_WORKFLOWS = 400;
const STEADY_SECONDS = 10;
const STEADY_PER_SECOND = 20;

const folder = await mkdtemp(join(tmpdir(), "activity-bench-deliver-"));
const progress = createProgress();
const database = await startDatabase({
  env: process.env,
  dataDir: join(folder, "database"),
  progress,
});
const temporal = await startTemporal({
  env: process.env,
  dataDir: join(folder, "temporal"),
  progress,
});
const { cert, key } = makeSelfSigned(Date.now());
const arrivals = new Map<string, number>();
const receiver = createServer({ cert, key }, (request, response) => {
  const id = String(request.headers["service-event-id"]);
  if (!arrivals.has(id)) arrivals.set(id, performance.now());
  request.resume().on("end", () => response.writeHead(200).end("ok"));
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const target = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const core = readConfig({
  DATABASE_URL: database.url,
  CURSOR_KEYS: randomBytes(32).toString("hex"),
  SECRET_KEYS: randomBytes(32).toString("hex"),
  WEBHOOK_ALLOWED_TARGETS: target,
  CORE_PORT: "0",
});
const common = {
  core,
  gateway: { host: "127.0.0.1", port: 0, trustedProxies: [] },
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
};
const deliveries = {
  ...readDeliveryConfig({ TEMPORAL_ADDRESS: temporal.address, WEBHOOK_ALLOWED_TARGETS: target }),
  extraCa: cert,
};
const sql = mysql.createPool({ uri: database.url, connectionLimit: 1 });

const floor = await measureFloor(temporal.address, FLOOR_WORKFLOWS);
process.stdout.write(`floor: empty workflow, eager start   ${floor.toFixed(0)}/s\n`);

// The backlog is written while nobody delivers.
let product = await startProduct(common);
const credential = await createServiceCredential(database.url, "bench", Object.values(Permission));
let clients = createClients(`http://127.0.0.1:${product.corePort}`, credential);
const { account } = await clients.accounts.putAccount({
  externalId: "bench",
  username: "bench",
  displayName: "Bench",
});
const accountId = account?.id ?? "";
const { endpoint } = await clients.endpoints.createEndpoint({
  accountId,
  url: `https://${target}/hook`,
  kinds: { kinds: [WebhookEventKind.DONATION_CREATED] },
});
const endpointId = endpoint?.id ?? "";
for (let sent = 0; sent < BACKLOG; sent += 50) {
  const turn = Array.from({ length: 50 }, () =>
    clients.endpoints.sendTest({ accountId, endpointId }),
  );
  await Promise.all(turn);
}
await product.stop();
product = await startProduct({ ...common, deliveries });
clients = createClients(`http://127.0.0.1:${product.corePort}`, credential);
while (arrivals.size === 0) await wait(1);
const firstMs = Math.min(...arrivals.values());
for (;;) {
  const [rows] = await sql.query<mysql.RowDataPacket[]>(
    "SELECT COUNT(*) AS done FROM delivery WHERE state = 3",
  );
  if (rows[0]?.done === BACKLOG) break;
  await wait(50);
}
const rate = BACKLOG / ((performance.now() - firstMs) / 1000);
process.stdout.write(
  `backlog of ${BACKLOG}, recorded in the database   ${rate.toFixed(0)}/s, ${(rate / floor).toFixed(1)} times the floor\n`,
);

const waits: number[] = [];
for (let turn = 0; turn < STEADY_SECONDS * STEADY_PER_SECOND; turn++) {
  const externalId = `steady-${turn}`;
  const money = { amountCents: 100n, currency: "eur", donatedAt: timestampNow() };
  await clients.donations.createDonation({ accountId, externalId, ...money });
  const before = new Set(arrivals.keys());
  await clients.donations.payDonation({ accountId, externalId });
  // The answer follows the commit, and may follow the arrival too.
  const committedMs = performance.now();
  const deadline = committedMs + 2_000;
  let arrived: string | undefined;
  while (arrived === undefined && performance.now() < deadline) {
    arrived = [...arrivals.keys()].find((id) => !before.has(id));
    if (arrived === undefined) await wait(1);
  }
  waits.push(Math.max(0, (arrivals.get(arrived ?? "") ?? deadline) - committedMs));
  await wait(Math.max(0, 1000 / STEADY_PER_SECOND - (performance.now() - committedMs)));
}
waits.sort((a, b) => a - b);
const quantile = (share: number) => waits[Math.floor((waits.length - 1) * share)]?.toFixed(1);
process.stdout.write(
  `steady ${STEADY_PER_SECOND}/s, commit answered to arrival   p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms\n`,
);

await product.stop();
await sql.end();
receiver.closeAllConnections();
receiver.close();
await temporal.stop();
await database.stop();
await rm(folder, { recursive: true, force: true });
