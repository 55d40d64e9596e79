import { readFile } from "node:fs/promises";
import type { Bench } from "../run/bench.ts";
import { startAtPort, startCore, startOneProcess, TRUSTED_PROXIES } from "../sides/programs.ts";
import { startRedis } from "../stack/dev-stack.ts";
import { startWorker, type Worker } from "../stack/jobs.ts";
import type { BenchStore } from "../stack/servers.ts";
import type { ReadJobs } from "./read-worker.ts";

type Env = Readonly<Record<string, string>>;
/** The common parameters of all sides. */
type Ground = {
  readonly bench: Bench;
  readonly store: BenchStore;
  readonly profileFolder: string | undefined;
};
/** A running side: its port, its processes, and the Redis that it counts in, if any. */
type Started = {
  readonly port: number;
  readonly pids: readonly number[];
  readonly redisPid?: number;
};
/** A program with a label. `beside` says what the side has in addition, as the second part of the label. */
type ReadSide = {
  readonly label: string;
  start(on: Ground, name: string, env: Env): Promise<Started>;
  readonly beside?: string;
  readonly redis?: true;
};

const ONE_PROCESS = { label: "product, one process", start: startTogether };
const APART = { label: "product, gateway and core apart", start: startApart };
const FASTIFY = { label: "Fastify", start: startFastify };
const REDIS = { beside: "counting in Redis", redis: true } as const;

/** All sides, in the order of their turns. */
const SIDES: Readonly<Record<string, ReadSide>> = {
  "one-process": ONE_PROCESS,
  "two-processes": APART,
  fastify: FASTIFY,
  "one-process-redis": { ...ONE_PROCESS, ...REDIS },
  "fastify-redis": { ...FASTIFY, ...REDIS },
  "served-one": { label: "`npm run serve`", start: startServed(1) },
  "served-two": { label: "`npm run serve -- --processes 2`", start: startServed(2) },
};
export const SIDE_NAMES = Object.keys(SIDES);
/** The sides that are measured by default. */
export const USUAL_SIDES = SIDE_NAMES.filter((name) => !name.startsWith("served-"));

/** Returns the label of a side. */
export function labelOf(name: string): string {
  const { label = name, beside } = SIDES[name] ?? {};
  return beside ? `${label}, ${beside}` : label;
}

/** Starts a side by its name. */
export async function startNamed(on: Ground, name: string): Promise<Started> {
  const side = SIDES[name];
  if (side === undefined) throw new Error(`there is no side ${name}`);
  if (!side.redis) return side.start(on, name, {});
  const { url, pid } = await sharedRedis(on.bench);
  return { ...(await side.start(on, name, { REDIS_URL: url })), redisPid: pid };
}

/** Starts the process that reads. */
export function startReader(bench: Bench): Worker<ReadJobs> {
  return startWorker(bench, new URL("./read-worker.ts", import.meta.url));
}

async function startTogether(on: Ground, name: string, more: Env): Promise<Started> {
  const { bench, store, profileFolder } = on;
  const env = { ...store.env, ...more };
  const { port, pid } = await startOneProcess(bench, name, env, profileFolder);
  return { port, pids: [pid] };
}

/** Starts the product as two processes, with Connect over HTTP/1.1 between them. */
async function startApart(on: Ground, name: string, more: Env): Promise<Started> {
  const { bench, profileFolder, store } = on;
  const core = await startCore(bench, `${name}-core`, { ...store.env, ...more }, profileFolder);
  const CORE_URL = `http://127.0.0.1:${core.port}`;
  const env = { CORE_URL, GATEWAY_CREDENTIAL: store.credential, TRUSTED_PROXIES, ...more };
  const program = { name: `${name}-gateway`, path: "gateway/src/main.ts", profileFolder };
  const { port, pid } = await startAtPort(bench, "GATEWAY_PORT", { ...program, env });
  return { port, pids: [pid, core.pid] };
}

/**
 * Returns a function that starts core, gateway and deliveries in `count` processes behind one port, without a
 * Temporal server.
 */
function startServed(count: number): ReadSide["start"] {
  return async ({ bench, store }, name, more) => {
    const alone = { CORE_PORT: "0", TEMPORAL_ADDRESS: "127.0.0.1:1", TRUSTED_PROXIES };
    const { port, pid } = await startAtPort(bench, "GATEWAY_PORT", {
      ...{ name, path: "tools/serve/serve.ts", args: ["--processes", String(count)] },
      env: { ...store.env, ...alone, ...more },
    });
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    return { port, pids: [pid, ...children.split(" ").filter(Boolean).map(Number)] };
  };
}

async function startFastify(on: Ground, name: string, more: Env): Promise<Started> {
  const { bench, store, profileFolder } = on;
  const { DATABASE_URL, CURSOR_KEYS: CURSOR_KEY } = store.env;
  const env = { DATABASE_URL, CURSOR_KEY, ...more };
  const program = { name, path: "bench/fastify-server/main.ts", flags: [], profileFolder };
  const { port, pid } = await startAtPort(bench, "PORT", { ...program, env });
  return { port, pids: [pid] };
}

let redis: ReturnType<typeof startRedis> | undefined;

async function sharedRedis({ progress, closeLater }: Bench) {
  redis ??= startRedis({ env: process.env, progress });
  const running = await redis;
  closeLater(running.stop);
  return running;
}
