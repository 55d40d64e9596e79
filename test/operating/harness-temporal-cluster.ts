import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Connection } from "@temporalio/client";
import protos from "@temporalio/proto";
import { vi } from "vitest";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { findFreePorts, LOOPBACK } from "../../dev-stack/src/free-port.ts";
import { fetchRealMysql } from "../../dev-stack/src/server-program.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";
import { buildGoModule, type GoModule } from "../harness/go-module.ts";
import { type RunningHaproxy, spawnHaproxy } from "../harness/haproxy.ts";
import { createServerHost } from "../harness/server-host.ts";

/** Temporal's server as a team runs it: each service in its own processes, over MySQL. */
export type TemporalCluster = Awaited<ReturnType<typeof startTemporalCluster>>;

/** Temporal's server for a cluster. `temporal server start-dev` has neither separate services nor MySQL. */
const TEMPORAL_SERVER: GoModule = {
  title: "Temporal's server",
  module: "go.temporal.io/server@v1.32.1",
  sum: "h1:grI5B5cBEMRJnDzGKtsxQRQpsNPisej1B6WgVksc9EM=",
  packages: ["./cmd/server", "./cmd/tools/sql"],
  folder: "temporal-server-v1.32.1",
};
/** The services of Temporal's server in their start order, with the name of each in its health check. */
const SERVICES = {
  ...{ history: "HistoryService", matching: "MatchingService" },
  ...{ frontend: "WorkflowService", worker: "WorkerService" },
};
const HOSTS_OF_EACH = 2;
const ANSWER_MS = 1_000;
/** `SERVING` of grpc.health.v1. */
const SERVING = 1;
const NO_PINGS = { "grpc.keepalive_permit_without_calls": 0 };
const NAMESPACE = "default";
/** A day, as in the server of one process. */
const RETENTION_SECONDS = 86_400;
const LEARNED = { timeout: 60_000, interval: 100 };

/** One database for the state of workflows, one for listing and searching them. */
const DATABASES = { temporal: "mysql/v8/temporal", temporal_visibility: "mysql/v8/visibility" };

/** As in the server of one process, `dev-stack/src/temporal.ts`. */
const DYNAMIC_CONFIG = `
history.workflowTaskRetryMaxInterval:
  - value: 5s
matching.enableFairness:
  - value: true
`;

/**
 * Starts two of each Temporal service, their MySQL server, and HAProxy before the two frontends, with the namespace
 * `default`, all on loopback. `dataDir` is an empty or missing folder.
 */
export async function startTemporalCluster(options: StackOptions & { readonly dataDir: string }) {
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const built = await buildGoModule(TEMPORAL_SERVER, options);
  const at = { dataDir: join(dataDir, "database"), sqlTool: join(built, "sql") };
  const database = await startTemporalDatabase({ ...options, ...at });
  const dynamicConfig = join(dataDir, "dynamic-config.yaml");
  await writeFile(dynamicConfig, DYNAMIC_CONFIG);
  // One port for all frontends, and two for each host.
  const [port, ...ports] = await findFreePorts(
    1 + 2 * HOSTS_OF_EACH * Object.keys(SERVICES).length,
  );
  const variables = {
    ...database.variables,
    NUM_HISTORY_SHARDS: "4",
    // Per process. The server allows 300 connections in all.
    ...{ SQL_MAX_CONNS: "15", SQL_MAX_IDLE_CONNS: "15" },
    ...{ SQL_VIS_MAX_CONNS: "5", SQL_VIS_MAX_IDLE_CONNS: "5" },
    DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    FRONTEND_HTTP_PORT: "0",
    ...{ BIND_ON_IP: LOOPBACK, TEMPORAL_BROADCAST_ADDRESS: LOOPBACK },
    CLUSTER_RPC_ADDRESS: `${LOOPBACK}:${port}`,
    LOG_LEVEL: "warn",
  };
  const hosts = Object.entries(SERVICES).flatMap(([service, healthName]) =>
    Array.from({ length: HOSTS_OF_EACH }, (_, place) => {
      const [grpc = 0, membership = 0] = ports.splice(0, 2);
      const prefix = service.toUpperCase();
      const own = {
        ...{ [`${prefix}_GRPC_PORT`]: `${grpc}`, [`${prefix}_MEMBERSHIP_PORT`]: `${membership}` },
      };
      const host = createServerHost({
        title: `Temporal's ${service} service`,
        launch: { command: join(built, "server"), leading: [] },
        args: ["--allow-no-auth", "start", "--service", service],
        env: { ...variables, ...own },
        logFile: join(dataDir, `${service}-${place + 1}.log`),
        isReady: () => isServing(healthName, grpc),
      });
      return { ...host, service, port: grpc };
    }),
  );
  let haproxy: RunningHaproxy | undefined;
  const stop = async () => {
    await haproxy?.stop();
    await Promise.allSettled(hosts.map((host) => host.kill()));
    await database.stop();
  };
  try {
    const frontends = hosts.filter(({ service }) => service === "frontend");
    const config = frontendsConfig(`${LOOPBACK}:${port}`, frontends);
    haproxy = await spawnHaproxy({ ...options, config });
    await options.progress.step("Starting Temporal's services", async () => {
      const [first, ...others] = hosts;
      // The first host writes the cluster's metadata. If several did so at once, all but one would fail.
      await first?.start();
      await Promise.all(others.map((host) => host.start()));
      await makeNamespace(frontends);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  /** `address` is that of the load balancer before the frontends, for the SDK. */
  return { address: `${LOOPBACK}:${port}`, hosts, stop };
}

/**
 * Starts a MySQL server and creates a cluster's tables with `sqlTool`, Temporal's own program. Returns the server and
 * the variables of Temporal's configuration template that point to it. MariaDB cannot be used: it lacks the columns
 * and keys over JSON paths (`->`, `ARRAY`) of the visibility store.
 */
async function startTemporalDatabase(
  options: StackOptions & { readonly dataDir: string; readonly sqlTool: string },
) {
  const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...env } = options.env;
  const MYSQLD = env.MYSQLD ?? (await fetchRealMysql(options));
  // Temporal names its databases itself, and an ordinary user has no rights to those names.
  const database = await startDatabase({ ...options, env: { ...env, MYSQLD }, ephemeral: true });
  const { hostname: host, port, username: user, password } = new URL(database.url);
  const ofTool = { SQL_HOST: host, SQL_PORT: port, SQL_USER: user, SQL_PASSWORD: password };
  const make = () => makeTables(options.sqlTool, { ...env, ...ofTool, SQL_PLUGIN: "mysql8" });
  try {
    await options.progress.step("Making Temporal's tables", make);
  } catch (error) {
    await database.stop();
    throw error;
  }
  const ofServer = { MYSQL_SEEDS: host, DB_PORT: port, MYSQL_USER: user, MYSQL_PWD: password };
  return { ...database, variables: { ...ofServer, DB: "mysql8" } };
}

async function makeTables(sqlTool: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, schema] of Object.entries(DATABASES)) {
    for (const args of [
      ["create-database"],
      ["setup-schema", "--version", "0.0"],
      ["update-schema", "--schema-name", schema],
    ]) {
      await promisify(execFile)(sqlTool, ["--database", name, ...args], { env });
    }
  }
}

/** Checks health as a load balancer or a kubelet does. */
async function isServing(healthName: string, port: number): Promise<boolean> {
  // Only frontends accept pings without a call. The others refuse them, and the library prints that on stderr.
  const connection = Connection.lazy({ address: `${LOOPBACK}:${port}`, channelArgs: NO_PINGS });
  const service = `temporal.api.workflowservice.v1.${healthName}`;
  try {
    const { status } = await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.healthService.check({ service }),
    );
    return status === SERVING;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/** A worker keeps one connection for everything and sends on it at least every half minute. */
function frontendsConfig(address: string, frontends: readonly { readonly port: number }[]): string {
  const servers = frontends.map((host) => `  server at-${host.port} ${LOOPBACK}:${host.port}\n`);
  return `
defaults
  mode tcp
  timeout connect 2s
  timeout client 2m
  timeout server 2m
  timeout check 2s
  option redispatch 1
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
listen frontends
  balance leastconn
  bind ${address}
${servers.join("")}`;
}

/** Registers the namespace. Waits until the frontends know it. They read it from the database at intervals. */
async function makeNamespace(frontends: readonly { readonly port: number }[]): Promise<void> {
  const connections = await Promise.all(
    frontends.map(({ port }) => Connection.connect({ address: `${LOOPBACK}:${port}` })),
  );
  const services = connections.map(({ workflowService }) => workflowService);
  const retention = protos.google.protobuf.Duration.fromObject({ seconds: RETENTION_SECONDS });
  const request = { namespace: NAMESPACE, workflowExecutionRetentionPeriod: retention };
  const knows = (service: (typeof services)[number]) =>
    service.listOpenWorkflowExecutions({ namespace: NAMESPACE }).then(
      () => true,
      () => false,
    );
  try {
    await services[0]?.registerNamespace(request);
    for (const service of services) await vi.waitUntil(() => knows(service), LEARNED);
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}
