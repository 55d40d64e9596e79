import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import mysql, { type Pool } from "mysql2/promise";
import { type Receiver, startReceiver } from "../harness-receiver.ts";
import { answer } from "../harness-receiver-behaviours.ts";
import { makeCertificates } from "../harness-receiver-certificates.ts";
import { nodeVictim, type Victim } from "./harness-process.ts";
import {
  databaseVictim,
  findLastingPort,
  type ServerVictim,
  temporalVictim,
} from "./harness-servers.ts";

/** The product with each part in a process of its own, and a receiver that counts. */
export type CrashStack = {
  readonly database: ServerVictim;
  readonly temporal: ServerVictim;
  readonly core: Victim;
  readonly receiver: Receiver;
  /** `host:port` of the receiver, as endpoints name it. */
  readonly target: string;
  /** A credential that may do everything. */
  readonly credential: string;
  /** The folder with all state and logs. */
  readonly folder: string;
  /** Makes a relay, a worker or both; `name` is its log's. Ended with the stack. */
  deliverer(name: string, script: string, env?: Readonly<Record<string, string>>): Victim;
  /** A client of the core. */
  client<Service extends DescService>(
    service: Service,
    headers?: Record<string, string>,
  ): Client<Service>;
  /** Reads rows outside the product. */
  query<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Keeps the folder when it stops, and says where it is: for whoever looks into a failure. */
  keepFolder(): void;
  stop(): Promise<void>;
};

/** A name that is looked for in histories and logs. */
export const RECEIVER_HOST = "quiet-harbour.receiver.test";

/** Where the deliverers' scripts lie. */
export const Script = {
  Relay: "test/delivery/crash/run-relay.ts",
  Worker: "test/delivery/crash/run-worker.ts",
  /** Both in one process, as the product has them. */
  Together: "workflows/src/main.ts",
} as const;

const READY_TEXTS: Readonly<Record<string, string>> = {
  [Script.Relay]: "relay runs",
  [Script.Worker]: "worker runs",
  [Script.Together]: "deliveries run",
};

/** Starts database, Temporal, core and receiver; what delivers is the test's to start. */
export async function startCrashStack(): Promise<CrashStack> {
  const folder = await mkdtemp(join(tmpdir(), "activity-crash-"));
  const certificates = makeCertificates();
  const extraCa = join(folder, "ca.pem");
  await writeFile(extraCa, certificates.ca);
  const receiver = await startReceiver(answer(200), certificates.good);
  const target = `${RECEIVER_HOST}:${receiver.port}`;
  const database = databaseVictim(join(folder, "database"), await findLastingPort());
  const temporal = temporalVictim(join(folder, "temporal"));
  await Promise.all([database.start(), temporal.start()]);
  const databaseUrl = database.address();
  await migrate(databaseUrl);
  const permissions = Object.values(Permission);
  const credential = await createServiceCredential(databaseUrl, "test", permissions);
  const corePort = await findLastingPort();
  const shared = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    WEBHOOK_ALLOWED_TARGETS: target,
  };
  const core = nodeVictim({
    script: "server/src/main.ts",
    env: {
      ...shared,
      DATABASE_URL: databaseUrl,
      CURSOR_KEYS: randomBytes(32).toString("hex"),
      SECRET_KEYS: randomBytes(32).toString("hex"),
      CORE_PORT: `${corePort}`,
    },
    logFile: join(folder, "core.log"),
    readyText: "core listens",
  });
  await core.start();
  const coreUrl = `http://127.0.0.1:${corePort}`;
  const delivererEnv = {
    ...shared,
    WEBHOOK_EXTRA_CA: extraCa,
    TEMPORAL_ADDRESS: temporal.address(),
    CORE_URL: coreUrl,
    CORE_CREDENTIAL: credential,
  };
  const deliverers: Victim[] = [];
  let isKept = false;
  const pool: Pool = mysql.createPool({ uri: databaseUrl, connectionLimit: 2, timezone: "Z" });
  return {
    ...{ database, temporal, core, receiver, target, credential, folder },
    deliverer(name, script, env = {}) {
      const victim = nodeVictim({
        script,
        env: { ...delivererEnv, ...env },
        logFile: join(folder, `${name}.log`),
        readyText: READY_TEXTS[script] ?? "",
      });
      deliverers.push(victim);
      return victim;
    },
    client: (service, headers = { authorization: `Bearer ${credential}` }) =>
      createClient(service, transportTo(coreUrl, headers)),
    async query<Row>(sql: string, values: unknown[] = []) {
      const [rows] = await pool.query(sql, values);
      return rows as Row[]; // the caller says what it selects
    },
    keepFolder() {
      if (!isKept) process.stderr.write(`Logs and state of the failure stay in ${folder}\n`);
      isKept = true;
    },
    async stop() {
      await pool.end();
      const all = [...deliverers, core, temporal, database];
      for (const victim of all.filter((one) => one.isRunning())) await victim.kill();
      await receiver.stop();
      if (!isKept) await rm(folder, { recursive: true, force: true });
    },
  };
}

const CALL_TIMEOUT_MS = 15_000;

function transportTo(baseUrl: string, headers: Record<string, string>) {
  return createGrpcTransport({
    baseUrl,
    defaultTimeoutMs: CALL_TIMEOUT_MS,
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
        return next(request);
      },
    ],
  });
}
