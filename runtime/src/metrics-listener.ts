import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Metrics, type MetricsAddress, NO_METRICS } from "./metrics.ts";
import { createMetrics } from "./metrics-families.ts";

/** A scraper needs one or two; nobody else has business here. */
const MAX_CONNECTIONS = 16;

/** Metrics that are served. */
export type OpenMetrics = {
  readonly metrics: Metrics;
  /** With the port that was taken; `undefined` where none are served. */
  readonly address: MetricsAddress | undefined;
  close(): void;
};

/**
 * Serves metrics at `/metrics` of a port of its own, with those of the process and its event loop. Without an address
 * it loads and counts nothing. Rejects when the port cannot be opened.
 */
export async function openMetrics(address: MetricsAddress | undefined): Promise<OpenMetrics> {
  if (address === undefined)
    return { metrics: NO_METRICS, address: undefined, close: () => undefined };
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  const server = createServer(async (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    const text = await registry.metrics();
    response.writeHead(200, { "Content-Type": registry.contentType }).end(text);
  });
  server.maxConnections = MAX_CONNECTIONS;
  // A process whose start fails ends, and one that is done too.
  server.unref();
  await once(server.listen(address.port, address.host), "listening");
  collectDefaultMetrics({ register: registry });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    metrics: createMetrics(registry, () => performance.now()),
    address: { host: address.host, port },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
