import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { GATEWAY_CREDENTIAL } from "../data/bench-accounts.ts";
import type { Worker } from "../load/jobs.ts";
import type { LoadJob } from "../load/load-worker.ts";
import type { Sample } from "../measure/sample.ts";
import { PRODUCT_FLAGS, type ServedProcess, serveProcess } from "./served-process.ts";
import { type Side, SideName, type SideOptions } from "./side.ts";

/** The process that all HTTP sides get their load from. */
export type LoadWorker = Worker<LoadJob, Sample | undefined>;

const CURSOR_KEY = createHash("sha256").update("bench cursors").digest("hex");
const TRUSTED_PROXIES = "127.0.0.1/32";
const LABELS = {
  [SideName.OneProcess]: "product, one process",
  [SideName.OneProcessRedis]: "product, one process, counting in Redis",
  [SideName.OneProcessMetrics]: "product, one process, with METRICS_PORT",
  [SideName.TwoProcesses]: "product, gateway and core apart",
  [SideName.OneProcessTraced]: "product, one process, 1 % of traces sampled",
  [SideName.TwoProcessesTraced]: "product, gateway and core apart, 1 % of traces sampled",
  [SideName.Fastify]: "Fastify",
  [SideName.FastifyRedis]: "Fastify, counting in Redis",
  [SideName.BareHttp]: "bare node:http answer",
} as const;

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Starts the product with core and gateway in one process; the side's name says what it has beside. */
export async function startOneProcess(
  name:
    | typeof SideName.OneProcess
    | typeof SideName.OneProcessRedis
    | typeof SideName.OneProcessMetrics
    | typeof SideName.OneProcessTraced,
  options: SideOptions,
  load: LoadWorker,
  redisUrl?: string,
): Promise<Side> {
  const port = await findFreePort();
  const served = await serveProcess({
    name,
    file: fileOf("one-process.mjs"),
    flags: PRODUCT_FLAGS,
    serves: { port },
    env: {
      ...coreEnv(options, redisUrl),
      ...traceEnv(options),
      CORE_PORT: "0",
      GATEWAY_PORT: String(port),
      TRUSTED_PROXIES,
      ...(name === SideName.OneProcessMetrics && { METRICS_PORT: "0" }),
    },
    profileFolder: options.profileFolder,
  });
  return httpSide(name, port, [served], options, load);
}

/** Starts the product as two processes with Connect over HTTP/1.1 between them. */
export async function startTwoProcesses(options: SideOptions, load: LoadWorker): Promise<Side> {
  const { profileFolder, tracesUrl } = options;
  const name = tracesUrl ? SideName.TwoProcessesTraced : SideName.TwoProcesses;
  const corePort = await findFreePort();
  const core = await serveProcess({
    name: `${name}-core`,
    file: fileOf("../../server/src/main.ts"),
    flags: PRODUCT_FLAGS,
    serves: { port: corePort },
    env: { ...coreEnv(options, undefined), ...traceEnv(options), CORE_PORT: String(corePort) },
    profileFolder,
  });
  const port = await findFreePort();
  const gateway = await serveProcess({
    name: `${name}-gateway`,
    file: fileOf("../../gateway/src/main.ts"),
    flags: PRODUCT_FLAGS,
    serves: { port },
    env: {
      ...traceEnv(options),
      GATEWAY_PORT: String(port),
      CORE_URL: `http://127.0.0.1:${corePort}`,
      GATEWAY_CREDENTIAL,
      TRUSTED_PROXIES,
    },
    profileFolder,
  });
  return httpSide(name, port, [gateway, core], options, load);
}

/** Starts the hand-written server. */
export async function startFastify(
  options: SideOptions,
  load: LoadWorker,
  redisUrl?: string,
): Promise<Side> {
  const name = redisUrl === undefined ? SideName.Fastify : SideName.FastifyRedis;
  const port = await findFreePort();
  const served = await serveProcess({
    name,
    file: fileOf("../fastify-server/main.ts"),
    serves: { port },
    env: {
      DATABASE_URL: options.databaseUrl,
      CURSOR_KEY,
      PORT: String(port),
      ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    },
    profileFolder: options.profileFolder,
  });
  return httpSide(name, port, [served], options, load);
}

/** Starts the server that does nothing but answer: what no server in Node can be faster than. */
export async function startBareHttp(options: SideOptions, load: LoadWorker): Promise<Side> {
  const port = await findFreePort();
  const served = await serveProcess({
    name: SideName.BareHttp,
    file: fileOf("../bare-http/main.ts"),
    serves: { port },
    env: { PORT: String(port) },
    profileFolder: options.profileFolder,
  });
  return httpSide(SideName.BareHttp, port, [served], options, load);
}

function traceEnv({ tracesUrl }: SideOptions): Record<string, string> {
  if (tracesUrl === undefined) return {};
  return { OTEL_EXPORTER_OTLP_ENDPOINT: tracesUrl, OTEL_TRACES_SAMPLER_ARG: "0.01" };
}

function coreEnv({ databaseUrl }: SideOptions, redisUrl: string | undefined) {
  return {
    DATABASE_URL: databaseUrl,
    CURSOR_KEYS: CURSOR_KEY,
    SECRET_KEYS: CURSOR_KEY,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
  };
}

function httpSide(
  name: keyof typeof LABELS,
  port: number,
  processes: readonly ServedProcess[],
  { accounts, concurrency, databaseUrl }: SideOptions,
  load: LoadWorker,
): Side {
  const job = { side: name, port, accounts, concurrency, databaseUrl };
  return {
    name,
    label: LABELS[name],
    pids: processes.map(({ pid }) => pid),
    loadPids: [load.pid],
    port,
    async prepare(workload) {
      await load.run({ ...job, workload, seconds: undefined });
    },
    async run(workload, seconds) {
      const sample = await load.run({ ...job, workload, seconds });
      if (sample === undefined) throw new Error("a turn without a sample");
      return sample;
    },
    async stop() {
      for (const served of processes) await served.stop();
    },
  };
}
