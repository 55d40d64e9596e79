import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Bench } from "../run/bench.ts";
import { startAtPort, startCore } from "../sides/programs.ts";
import { cacheFolder, startRedis } from "../stack/dev-stack.ts";
import { startWorker, type Worker } from "../stack/jobs.ts";
import type { CoreStore } from "../stack/servers.ts";
import type { ReadJobs } from "./read-worker.ts";

type Env = Readonly<Record<string, string>>;
/** What every side is started with. */
type Ground = {
  readonly bench: Bench;
  readonly store: CoreStore;
  readonly profileFolder: string | undefined;
};
/** What serves and where, or what asks the database by itself. */
type Started = {
  readonly port?: number;
  readonly pids: readonly number[];
  readonly reader?: Worker<ReadJobs>;
};
/** A program, and what it has beside, for people and as its variables. */
type ReadSide = {
  readonly label: string;
  start(on: Ground, name: string, env: Env): Promise<Started>;
  readonly beside?: string;
  readonly env?: (bench: Bench) => Promise<Env>;
};

const TRUSTED_PROXIES = "127.0.0.1/32";
const ONE_PROCESS = { label: "product, one process", start: startOneProcess };
const APART = { label: "product, gateway and core apart", start: startApart };
const FASTIFY = { label: "Fastify", start: startFastify };
const REDIS = { beside: "counting in Redis", env: redisEnv };
const METRICS = { beside: "with METRICS_PORT", env: async () => ({ METRICS_PORT: "0" }) };
const TRACED = { beside: "1 % of traces sampled", env: traceEnv };

/** All that is measured beside each other, in the order in which they take turns. */
const SIDES: Readonly<Record<string, ReadSide>> = {
  "one-process": ONE_PROCESS,
  "two-processes": APART,
  fastify: FASTIFY,
  "bare-query": { label: "bare page query", start: startBareQuery },
  "bare-http": { label: "bare node:http answer", start: startBareHttp },
  "one-process-redis": { ...ONE_PROCESS, ...REDIS },
  "fastify-redis": { ...FASTIFY, ...REDIS },
  "one-process-metrics": { ...ONE_PROCESS, ...METRICS },
  "one-process-traced": { ...ONE_PROCESS, ...TRACED },
  "two-processes-traced": { ...APART, ...TRACED },
};
export const SIDE_NAMES = Object.keys(SIDES);
/** What metrics and traces cost is asked for by name. */
export const USUAL_SIDES = SIDE_NAMES.slice(0, SIDE_NAMES.indexOf("one-process-metrics"));

/** Says which side it is. */
export function labelOf(name: string): string {
  const { label = name, beside } = SIDES[name] ?? {};
  return beside ? `${label}, ${beside}` : label;
}

/** Starts a side by its name. */
export async function startNamed(on: Ground, name: string): Promise<Started> {
  const side = SIDES[name];
  if (side === undefined) throw new Error(`there is no side ${name}`);
  return side.start(on, name, (await side.env?.(on.bench)) ?? {});
}

/** Starts what reads, in a process of its own. */
export function startReader(bench: Bench): Worker<ReadJobs> {
  return startWorker(bench, new URL("./read-worker.ts", import.meta.url));
}

async function startOneProcess(on: Ground, name: string, env: Env): Promise<Started> {
  const program = { name, path: "bench/sides/one-process.mjs", profileFolder: on.profileFolder };
  const { port, pid } = await startAtPort(on.bench, "GATEWAY_PORT", {
    ...{ ...program, env: { ...on.store.env, TRUSTED_PROXIES, ...env } },
  });
  return { port, pids: [pid] };
}

/** Starts the product as two processes with Connect over HTTP/1.1 between them. */
async function startApart(on: Ground, name: string, more: Env): Promise<Started> {
  const { bench, profileFolder, store } = on;
  const core = await startCore(bench, `${name}-core`, { ...store.env, ...more }, profileFolder);
  const CORE_URL = `http://127.0.0.1:${core.port}`;
  const env = { CORE_URL, GATEWAY_CREDENTIAL: store.credential, TRUSTED_PROXIES, ...more };
  const program = { name: `${name}-gateway`, path: "gateway/src/main.ts", profileFolder };
  const { port, pid } = await startAtPort(bench, "GATEWAY_PORT", { ...program, env });
  return { port, pids: [pid, core.pid] };
}

function startFastify(on: Ground, name: string, more: Env): Promise<Started> {
  const { DATABASE_URL, CURSOR_KEYS: CURSOR_KEY } = on.store.env;
  const env = { DATABASE_URL, CURSOR_KEY, ...more };
  return startOther(on, name, "bench/fastify-server/main.ts", env);
}

/** Starts the server that does nothing but answer: what no server in Node can be faster than. */
function startBareHttp(on: Ground, name: string): Promise<Started> {
  return startOther(on, name, "bench/read/bare-http.ts", {});
}

/** Starts the loop of the page query alone: what no server on this database can be faster than. */
async function startBareQuery({ bench }: Ground): Promise<Started> {
  const reader = startReader(bench);
  return { pids: [reader.pid], reader };
}

async function startOther({ bench, profileFolder }: Ground, name: string, path: string, env: Env) {
  const program = { name, path, env, flags: [], profileFolder };
  const { port, pid } = await startAtPort(bench, "PORT", program);
  return { port, pids: [pid] };
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
  const sink = createServer((request, response) => {
    const answer = () => response.setHeader("Content-Type", "application/json").end("{}");
    request.resume().on("end", answer);
  });
  await once(sink.listen(0, "127.0.0.1").unref(), "listening");
  closeLater(() => sink.closeAllConnections());
  const { port } = sink.address() as AddressInfo; // it listens on a port
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
  return { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: "0.01" };
}
