import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import mysql, { type Pool } from "mysql2/promise";
import { expect, inject } from "vitest";
import { findFreePort } from "../../../dev-stack/src/free-port.ts";
import { baseEnv } from "../../harness/base-env.ts";
import { clientsOf } from "../../harness/clients.ts";
import { KEYS } from "../../operating/harness-parts.ts";
import { answer } from "../harness-receiver-behaviours.ts";
import { startTrustedReceiver } from "../harness-trusted-receiver.ts";
import {
  databaseVictim,
  nodeVictim,
  type ServerVictim,
  temporalVictim,
  type Victim,
  vitessVictim,
} from "./harness-servers.ts";

/** A name that tests search for in histories and logs. */
export const RECEIVER_HOST = "quiet-harbour.receiver.test";

/** The time limit for the last events. If the first retry times out, the next one follows in five minutes. */
export const SETTLE_MS = 600_000;
/** The options of polls that wait for the last events. */
export const SETTLE = { timeout: SETTLE_MS, interval: 500 };
const SERVED = { timeout: 60_000, interval: 50 };
const CALL_TIMEOUT_MS = 15_000;

/** The product with each part in its own process, and a receiver that keeps its requests. */
export type CrashStack = Awaited<ReturnType<typeof startCrashStack>>;

/** Starts database, Temporal, core and receiver. Tests start the dispatchers. */
export async function startCrashStack(makeDatabase?: (dataDir: string) => ServerVictim) {
  const folder = await mkdtemp(join(tmpdir(), "activity-crash-"));
  const trusted = await startTrustedReceiver(folder, answer(200), RECEIVER_HOST);
  const { receiver, target, trusting } = trusted;
  const shards = inject("shards");
  const dataDir = join(folder, "database");
  const database = makeDatabase?.(dataDir) ?? databaseVictim(dataDir, shards !== undefined);
  const temporal = temporalVictim(join(folder, "temporal"));
  await Promise.all([database.start(), temporal.start()]);
  const vitess =
    shards === undefined
      ? undefined
      : vitessVictim(database.address(), await findFreePort(), shards);
  await vitess?.start();
  const databaseUrl = (vitess ?? database).address();
  await migrate(databaseUrl);
  const permissions = Object.values(Permission);
  const credential = await createServiceCredential(databaseUrl, "test", permissions);
  const corePort = await findFreePort();
  const shared = { ...baseEnv(), HOME: process.env.HOME, ...trusting };
  const coreEnv = {
    ...{ ...shared, ...KEYS },
    ...{ DATABASE_URL: databaseUrl, CORE_PORT: `${corePort}` },
  };
  const core = nodeVictim("server/src/main.ts", coreEnv, join(folder, "core.log"), "core listens");
  await core.start();
  const coreUrl = `http://127.0.0.1:${corePort}`;
  const dispatcherEnv = {
    ...shared,
    TEMPORAL_ADDRESS: temporal.address(),
    CORE_URL: coreUrl,
    CORE_CREDENTIAL: credential,
  };
  const dispatchers: Victim[] = [];
  let isKept = false;
  const pool: Pool = mysql.createPool({ uri: databaseUrl, connectionLimit: 2, timezone: "Z" });
  const served = {
    ...database,
    async start() {
      await database.start();
      // Waits until the vtgate has found its shards again. It looks for them only now and then.
      for (const table of ["account", "service_credential"]) {
        const count = () => pool.query(`SELECT COUNT(*) FROM ${table}`);
        await expect.poll(() => count().then(() => true, String), SERVED).toBe(true);
      }
    },
  };
  return {
    ...{ database: served, temporal, core, coreUrl, receiver },
    /** The vtgate before the database, if the tests run on Vitess. */
    vitess,
    /** The receiver's `host:port`, as endpoints name it. */
    target,
    /** A credential with every permission. */
    credential,
    folder,
    /** Creates a process with a dispatcher and a worker. It logs to `<name>.log` and ends with the stack. */
    dispatcher(name: string, env: Readonly<Record<string, string>> = {}) {
      const logFile = join(folder, `${name}.log`);
      const ofDispatcher = { ...dispatcherEnv, ...env };
      const victim = nodeVictim("workflows/src/main.ts", ofDispatcher, logFile, "deliveries run");
      dispatchers.push(victim);
      return victim;
    },
    client: clientsOf(coreUrl, credential, { defaultTimeoutMs: CALL_TIMEOUT_MS }),
    /** Reads rows on a connection outside the product. */
    async query<Row>(sql: string, values: unknown[] = []) {
      const [rows] = await pool.query(sql, values);
      return rows as Row[]; // the caller knows its columns
    },
    /** Keeps the folder after `stop`, for the examination of a failure, and prints its path. */
    keepFolder() {
      if (!isKept) process.stderr.write(`Logs and state of the failure stay in ${folder}\n`);
      isKept = true;
    },
    async stop() {
      await pool.end();
      const all = [...dispatchers, core, temporal, ...(vitess ? [vitess] : []), database];
      for (const victim of all.filter((one) => one.isRunning())) await victim.kill();
      await receiver.stop();
      if (!isKept) await rm(folder, { recursive: true, force: true });
    },
  };
}
