import cluster, { type Worker } from "node:cluster";
import { availableParallelism } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { endAtSignal } from "@activity/runtime/end-at-signal";
import { ConfigError } from "@activity/runtime/environment";
import { openHealth } from "@activity/runtime/health";
import type { Log } from "@activity/runtime/log";
import type { MetricsAddress } from "@activity/runtime/metrics";
import { openProcessesMetrics } from "@activity/runtime/metrics-listener";
import { openOutput } from "@activity/runtime/process-output";
import { type LogWriter, migrate, type ServerConfig } from "@activity/server";

const MAX_PROCESSES = 64;
const MAX_PORT = 65_535;
/** A process that ends by itself is restarted after this time. */
const AGAIN_MS = 1_000;
const TELL_MS = 250;
/** The variable with a process's number, from 1. */
const PROCESS_NUMBER = "PROCESS_NUMBER";

/** A process's message to the first one: its state. */
type Told = { readonly state: string };

/** Reads `--processes`: a number, or `auto` for one per processor. Throws ConfigError. */
export function readProcesses(args: readonly string[]): number {
  const problem = `Usage: npm run serve -- [--processes N]\nN must be a whole number from 1 to ${MAX_PROCESSES}, or auto.`;
  let text: string;
  try {
    const { values } = parseArgs({ args: [...args], options: { processes: { type: "string" } } });
    text = values.processes ?? "1";
  } catch {
    throw new ConfigError(problem);
  }
  const count = text === "auto" ? Math.min(availableParallelism(), MAX_PROCESSES) : Number(text);
  if ((text !== "auto" && !/^\d+$/.test(text)) || count < 1 || count > MAX_PROCESSES) {
    throw new ConfigError(problem);
  }
  return count;
}

/** Returns this process's number among several behind one port, from 1; `undefined` if it is alone. */
export function numberOfThis(): number | undefined {
  return cluster.isWorker ? Number(process.env[PROCESS_NUMBER]) : undefined;
}

/** Sends the state to the first process now and at each change. */
export async function tellState(readState: () => Promise<string>): Promise<void> {
  let told: string | undefined;
  for (;;) {
    const state = await readState();
    if (state !== told) process.send?.({ state } satisfies Told);
    told = state;
    await wait(TELL_MS, undefined, { ref: false });
  }
}

/**
 * Runs `count` processes of this program behind the same ports. `node:cluster` distributes connections in turn. This
 * process only serves health and metrics. A process that ends by itself is restarted. If one ends before all have
 * started, all end with status 1. Throws ConfigError if a process would have no port for Temporal's metrics.
 */
export async function serveProcesses(
  count: number,
  core: ServerConfig,
  log: Log,
  writer: LogWriter,
): Promise<void> {
  checkPorts(count, core);
  const [out, err] = [openOutput(process.stdout), openOutput(process.stderr)];
  const processes = new Map<number, { readonly worker: Worker; state: string }>();
  let isEnding = false;
  let haveAllStarted = false;

  const states = () => [...processes.values()].map(({ state }) => state);
  function state(): string {
    if (isEnding) return "draining";
    const unready = states().find((each) => each !== "serving") ?? "starting";
    if (!haveAllStarted) return unready;
    return states().includes("serving") ? "serving" : unready;
  }

  // The health port opens before the migration, which may take minutes.
  const health = await openHealth(core.health, state, log);
  const unknown = await migrate(core.databaseUrl, log);
  if (unknown.length > 0) log.warn("the database is newer than this program", { unknown });
  const scraped = await openProcessesMetrics(core.metrics, count, log);
  cluster.setupPrimary({ silent: true });
  for (let number = 1; number <= count; number++) start(number);
  log.info("processes are started", { processes: count });
  endAtSignal({ drain, drainMs: core.drainMs, stop });

  function start(number: number): void {
    const worker = cluster.fork(environmentOf(number, scraped.address));
    const one = { worker, state: "starting" };
    processes.set(number, one);
    forwardLines(worker.process.stdout, out);
    forwardLines(worker.process.stderr, err);
    worker.on("message", (told: Partial<Told>) => {
      // Ignores messages with metrics, which use the same channel.
      if (told.state === undefined) return;
      one.state = told.state;
      haveAllStarted ||= states().every((each) => each !== "starting");
    });
    const ended = (status: number | null, signal: string | null) => {
      processes.delete(number);
      if (isEnding) return;
      log.error("a process ended by itself", { process: number, status, signal });
      if (haveAllStarted) setTimeout(() => isEnding || start(number), AGAIN_MS);
      else void stopAll(1);
    };
    worker.once("exit", ended);
    // The cause is a message to a process that just died, or a process that could not be created. Without a listener,
    // the error would end this process.
    worker.on("error", (cause) => {
      log.error("a process cannot be reached", { process: number, cause });
      if (worker.process.pid === undefined) ended(null, null);
    });
  }

  function drain(): void {
    isEnding = true;
    for (const { worker } of processes.values()) worker.process.kill("SIGTERM");
  }

  async function stop(): Promise<void> {
    // Does not use the `once` of node:events. It would reject at an error, such as that of a message to a process that
    // just died.
    const closed = [...processes.values()].map(
      ({ worker }) => new Promise((resolve) => worker.process.once("close", resolve)),
    );
    await Promise.all(closed);
    health.close();
    scraped.close();
    writer.flush();
  }

  async function stopAll(status: number): Promise<void> {
    drain();
    await stop();
    process.exitCode = status;
  }
}

/** Throws ConfigError for wrong ports. Otherwise one of the processes would fail, after the migration. */
function checkPorts(count: number, { metrics, health }: ServerConfig): void {
  if (metrics === undefined) return;
  const { port } = metrics;
  if (port > MAX_PORT - count) {
    throw new ConfigError(
      `METRICS_PORT must be a whole number from 0 to ${MAX_PORT - count} with --processes ${count}.`,
    );
  }
  if (port > 0 && health && health.port > port && health.port <= port + count) {
    throw new ConfigError(
      `HEALTH_PORT must not be ${port + 1} to ${port + count}: with --processes ${count} Temporal's SDK serves its metrics there, behind METRICS_PORT.`,
    );
  }
}

/**
 * Returns the variables of a child process. Only the first process opens the ports for health and metrics. The child's
 * Temporal SDK opens the port after METRICS_PORT.
 */
function environmentOf(number: number, metrics: MetricsAddress | undefined) {
  const port = metrics === undefined ? "" : String(metrics.port + number - 1);
  return { [PROCESS_NUMBER]: String(number), HEALTH_PORT: "", METRICS_PORT: port };
}

/** Forwards only whole lines, so that lines of several processes never mix. */
function forwardLines(from: Readable | null, write: (lines: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  from?.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf("\n") + 1;
    if (end > 0) write(Buffer.concat([rest, chunk.subarray(0, end)]));
    rest = end > 0 ? chunk.subarray(end) : Buffer.concat([rest, chunk]);
  });
  from?.on("end", () => rest.length > 0 && write(rest));
}
