import type { Worker } from "node:cluster";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "./log.ts";
import { createGauge, type Metrics, type MetricsAddress, NO_METRICS } from "./metrics.ts";
import { createMetrics } from "./metrics-families.ts";

/** The most open connections. A scraper needs one or two, and no other client should connect here. */
const MAX_CONNECTIONS = 16;

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
/**
 * How long a process may take to answer. Without its database, it tries for three seconds to read its backlogs. A
 * scraper waits for ten.
 */
const ANSWER_WITHIN_MS = 5_000;
/** What the primary process asks, and what another one answers. */
type Asked = { readonly metricsFor: number };
type Answered = { readonly metricsFor: number; readonly metrics: object };
const NOWHERE = { address: undefined, close: () => undefined };

/** Open metrics. */
export type OpenMetrics = {
  readonly metrics: Metrics;
  /** With the open port; `undefined` if no metrics are served. */
  readonly address: MetricsAddress | undefined;
  close(): void;
};

/**
 * Serves metrics at `/metrics` on their own port, including those of the process and its event loop. Logs the port.
 * Without an address it loads and counts nothing. `processNumber` numbers one of several processes behind one port.
 * Such a process serves nothing: the primary process collects its metrics. Rejects if it cannot open the port.
 */
export async function openMetrics(
  address: MetricsAddress | undefined,
  log: Pick<Log, "info">,
  processNumber?: number,
): Promise<OpenMetrics> {
  if (address === undefined) return { ...NOWHERE, metrics: NO_METRICS };
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  const metrics = createMetrics(registry, () => performance.now());
  collectDefaultMetrics({ register: registry });
  if (processNumber === undefined) {
    showProcesses(metrics, 1);
    return { ...(await serve(address, log, () => registry.metrics())), metrics };
  }
  registry.setDefaultLabels({ process: String(processNumber) });
  process.on("message", async ({ metricsFor }: Partial<Asked>) => {
    if (metricsFor === undefined) return;
    const families = await registry.getMetricsAsJSON();
    // Replaces prom-client's own aggregators, which would drop some families, such as the process's start.
    const metrics = families.map((one) => ({ ...one, aggregator: "first" as const }));
    const answer: Answered = { metricsFor, metrics };
    // The callback ignores an error, because the primary process may be gone.
    process.send?.(answer, undefined, undefined, () => undefined);
  });
  return { metrics, address, close: () => undefined };
}

/**
 * Serves the metrics of `count` processes on one page, each with the label `process`. A process that does not answer in
 * time is left out. prom-client's own collector would then fail for all processes.
 */
export async function openProcessesMetrics(
  address: MetricsAddress | undefined,
  count: number,
  log: Log,
): Promise<Omit<OpenMetrics, "metrics">> {
  if (address === undefined) return NOWHERE;
  const { AggregatorRegistry } = await import("prom-client");
  const { default: cluster } = await import("node:cluster");
  let asked = 0;
  return serve(address, log, async () => {
    asked += 1;
    const metricsFor = asked;
    const workers = Object.values(cluster.workers ?? {}).filter((one) => one?.isConnected());
    const answers = new Map<number, object>();
    const all = Promise.withResolvers<void>();
    const hear = (worker: Worker, answer: Partial<Answered>) => {
      if (answer.metricsFor !== metricsFor || answer.metrics === undefined) return;
      answers.set(worker.id, answer.metrics);
      if (answers.size === workers.length) all.resolve();
    };
    if (workers.length === 0) all.resolve();
    cluster.on("message", hear);
    // With a callback, a message that cannot be sent causes no `error` event.
    for (const worker of workers) worker?.send({ metricsFor } satisfies Asked, () => undefined);
    await Promise.race([all.promise, wait(ANSWER_WITHIN_MS, undefined, { ref: false })]);
    cluster.off("message", hear);
    if (answers.size === 0) throw new Error("no process answered");
    const registry = AggregatorRegistry.aggregate([...answers.values()]);
    const metrics = createMetrics(registry, () => performance.now());
    showProcesses(metrics, count);
    return registry.metrics();
  });
}

/** Shows how many processes should answer, so that an alert can find out that one is missing. */
function showProcesses(metrics: Metrics, count: number): void {
  const help = "Processes that should run behind this page.";
  createGauge(metrics, "activity_processes", help, () => count);
}

async function serve(
  { host, port }: MetricsAddress,
  log: Pick<Log, "info">,
  read: () => Promise<string>,
) {
  const server = createServer(async (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    const text = await read().catch(() => undefined);
    if (text === undefined) response.writeHead(503).end();
    else response.writeHead(200, { "Content-Type": CONTENT_TYPE }).end(text);
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Does not keep a process alive that failed to start or is done.
  server.unref();
  await once(server.listen(port, host), "listening");
  const { port: open } = server.address() as AddressInfo; // It listens on TCP.
  log.info("metrics are served", { port: open });
  return {
    address: { host, port: open },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
