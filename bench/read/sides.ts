import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GATEWAY_CREDENTIAL } from "../data/bench-accounts.ts";
import type { Bench } from "../run/bench.ts";
import {
  fileOf,
  PRODUCT_FLAGS,
  type ServedProcess,
  serveProcess,
} from "../sides/served-process.ts";
import { cacheFolder, findFreePort, startRedis } from "../stack/dev-stack.ts";
import { startWorker, type Worker } from "../stack/jobs.ts";
import type { ReadJobs } from "./read-worker.ts";

/** What every side is started with. */
export type Ground = {
  readonly bench: Bench;
  readonly databaseUrl: string;
  readonly profileFolder: string | undefined;
};
type Env = Readonly<Record<string, string>>;
/** What serves and where, or what asks the database by itself. */
export type Started = {
  readonly port?: number;
  readonly processes: readonly ServedProcess[];
  readonly reader?: Worker<ReadJobs>;
};
type ReadSide = {
  /** For people. */
  readonly label: string;
  start(on: Ground, name: string, env: Env): Promise<Started>;
  /** What it has beside. */
  readonly env?: (bench: Bench) => Promise<Env>;
  /** Whether it is measured only where `--only` names it. */
  readonly byName?: true;
};

const CURSOR_KEY = createHash("sha256").update("bench cursors").digest("hex");
const KEYS = { CURSOR_KEYS: CURSOR_KEY, SECRET_KEYS: CURSOR_KEY };
const TRUSTED_PROXIES = "127.0.0.1/32";
const ONE_PROCESS = "product, one process";
const APART = "product, gateway and core apart";
const TRACED = "1 % of traces sampled";

/** All that is measured beside each other, in the order in which they take turns. */
export const SIDES: Readonly<Record<string, ReadSide>> = {
  "one-process": { label: ONE_PROCESS, start: startOneProcess },
  "two-processes": { label: APART, start: startTwoProcesses },
  fastify: { label: "Fastify", start: startFastify },
  "bare-query": { label: "bare page query", start: startBareQuery },
  "bare-http": { label: "bare node:http answer", start: startBareHttp },
  "one-process-redis": {
    ...{ label: `${ONE_PROCESS}, counting in Redis`, start: startOneProcess, env: redisEnv },
  },
  "fastify-redis": { label: "Fastify, counting in Redis", start: startFastify, env: redisEnv },
  "one-process-metrics": {
    ...{ label: `${ONE_PROCESS}, with METRICS_PORT`, start: startOneProcess, byName: true },
    env: async () => ({ METRICS_PORT: "0" }),
  },
  "one-process-traced": {
    ...{ label: `${ONE_PROCESS}, ${TRACED}`, start: startOneProcess, env: traceEnv, byName: true },
  },
  "two-processes-traced": {
    ...{ label: `${APART}, ${TRACED}`, start: startTwoProcesses, env: traceEnv, byName: true },
  },
};

/** Starts what reads, in a process of its own. */
export function startReader(bench: Bench): Worker<ReadJobs> {
  return startWorker<ReadJobs>(bench, new URL("./read-worker.ts", import.meta.url));
}

async function startOneProcess(on: Ground, name: string, more: Env): Promise<Started> {
  const env = { DATABASE_URL: on.databaseUrl, ...KEYS, CORE_PORT: "0", TRUSTED_PROXIES, ...more };
  const file = "bench/sides/one-process.mjs";
  const served = await serve(on, name, file, "GATEWAY_PORT", env, PRODUCT_FLAGS);
  return { port: served.port, processes: [served] };
}

/** Starts the product as two processes with Connect over HTTP/1.1 between them. */
async function startTwoProcesses(on: Ground, name: string, more: Env): Promise<Started> {
  const coreEnv = { DATABASE_URL: on.databaseUrl, ...KEYS, ...more };
  const coreFile = "server/src/main.ts";
  const core = await serve(on, `${name}-core`, coreFile, "CORE_PORT", coreEnv, PRODUCT_FLAGS);
  const CORE_URL = `http://127.0.0.1:${core.port}`;
  const env = { CORE_URL, GATEWAY_CREDENTIAL, TRUSTED_PROXIES, ...more };
  const file = "gateway/src/main.ts";
  const gateway = await serve(on, `${name}-gateway`, file, "GATEWAY_PORT", env, PRODUCT_FLAGS);
  return { port: gateway.port, processes: [gateway, core] };
}

async function startFastify(on: Ground, name: string, more: Env): Promise<Started> {
  const env = { DATABASE_URL: on.databaseUrl, CURSOR_KEY, ...more };
  const served = await serve(on, name, "bench/fastify-server/main.ts", "PORT", env);
  return { port: served.port, processes: [served] };
}

/** Starts the server that does nothing but answer: what no server in Node can be faster than. */
async function startBareHttp(on: Ground, name: string): Promise<Started> {
  const served = await serve(on, name, "bench/read/bare-http.ts", "PORT", {});
  return { port: served.port, processes: [served] };
}

/** Starts the loop of the page query alone: what no server on this database can be faster than. */
async function startBareQuery({ bench }: Ground): Promise<Started> {
  const reader = startReader(bench);
  return { processes: [{ pid: reader.pid, stop: async () => {} }], reader };
}

async function serve(
  { bench, profileFolder }: Ground,
  name: string,
  path: string,
  portName: string,
  env: Env,
  flags: readonly string[] = [],
) {
  const port = await findFreePort();
  const served = await serveProcess({
    ...{ name, file: fileOf(path), flags, serves: { port }, profileFolder },
    env: { ...env, [portName]: String(port) },
  });
  bench.closeLater(served.stop);
  return { ...served, port };
}

let redis: ReturnType<typeof startRedis> | undefined;

async function redisEnv({ progress, closeLater }: Bench): Promise<Env> {
  const { env } = process;
  redis ??= startRedis({ env, cacheDir: cacheFolder(env), progress });
  const { url, stop } = await redis;
  closeLater(stop);
  return { REDIS_URL: url };
}

/** Sends traces to what takes spans as a collector does, and keeps none. */
async function traceEnv({ closeLater }: Bench): Promise<Env> {
  const server = createServer((request, response) => {
    request
      .resume()
      .on("end", () => response.setHeader("Content-Type", "application/json").end("{}"));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closeLater(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_TRACES_SAMPLER_ARG: "0.01",
  };
}
