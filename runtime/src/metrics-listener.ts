import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Metrics, type MetricsAddress, NO_METRICS } from "./metrics.ts";
import { createMetrics } from "./metrics-families.ts";

/** A scraper needs one or two; nobody else has business here. */
const MAX_CONNECTIONS = 16;

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const NOWHERE = { address: undefined, close: () => undefined };

/** Metrics that are served. */
export type OpenMetrics = {
  readonly metrics: Metrics;
  /** With the port that was taken; `undefined` where none are served. */
  readonly address: MetricsAddress | undefined;
  close(): void;
};

/**
 * Serves metrics at `/metrics` of a port of its own, with those of the process and its event loop. Without an address
 * it loads and counts nothing. One of several processes behind one port has its place among them: it serves nothing,
 * and the first process asks it. Rejects when the port cannot be opened.
 */
export async function openMetrics(
  address: MetricsAddress | undefined,
  place?: number,
): Promise<OpenMetrics> {
  if (address === undefined) return { ...NOWHERE, metrics: NO_METRICS };
  const { AggregatorRegistry, collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  const metrics = createMetrics(registry, () => performance.now());
  collectDefaultMetrics({ register: registry });
  if (place === undefined) return { ...(await serve(address, () => registry.metrics())), metrics };
  registry.setDefaultLabels({ process: String(place) });
  AggregatorRegistry.setRegistries([registry]);
  // It hears what the first process asks.
  new AggregatorRegistry();
  return { metrics, address, close: () => undefined };
}

/** Serves the metrics of several processes on one page, each with the label `process`. */
export async function openProcessesMetrics(
  address: MetricsAddress | undefined,
): Promise<Omit<OpenMetrics, "metrics">> {
  if (address === undefined) return NOWHERE;
  const { AggregatorRegistry } = await import("prom-client");
  const registry = new AggregatorRegistry();
  return serve(address, () => registry.clusterMetrics());
}

async function serve({ host, port }: MetricsAddress, read: () => Promise<string>) {
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
  // A process whose start fails ends, and one that is done too.
  server.unref();
  await once(server.listen(port, host), "listening");
  return {
    address: { host, port: (server.address() as AddressInfo).port }, // It listens on TCP.
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
