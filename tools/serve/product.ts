import { fileURLToPath } from "node:url";
import { createGateway, type EdgeConfig, startCoreCheck } from "@activity/gateway";
import { openHealth } from "@activity/runtime/health";
import { openMetrics } from "@activity/runtime/metrics-listener";
import { openTraces } from "@activity/runtime/traces-exporter";
import { createServerApp, type Log, migrate, type ServerConfig } from "@activity/server";
import type { DeliveryConfig } from "@activity/workflows";

/** The page, as `npm run build --workspace dashboard` leaves it. */
const DASHBOARD_FILES = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));

/**
 * The running product: the gateway external clients call, the core internal services call, and what
 * delivers webhook events.
 */
export type Product = {
  readonly gatewayPort: number;
  readonly corePort: number;
  /** Where browsers find the dashboard, if it is served. */
  readonly dashboardPort: number | undefined;
  /** Where a Prometheus finds the metrics of all three, if they are served. */
  readonly metricsPort: number | undefined;
  /** Says whether the product serves, as `/ready` does. */
  state(): string;
  /** Says that it does not serve, serves on, tells connections to close, and claims nothing more to deliver. */
  drain(): void;
  /** Lets what is in flight end, and closes everything. */
  stop(): Promise<void>;
};

/**
 * Runs core, gateway and deliveries in this process, the others calling the core as functions: the
 * composition of `npm run serve` and of `npm start`. The core's port is open to internal services all the same.
 */
export async function startProduct(options: {
  readonly core: ServerConfig;
  readonly gateway: EdgeConfig;
  /** Without it, webhook events wait in the outbox. */
  readonly deliveries?: DeliveryConfig | undefined;
  readonly log: Log;
  /** Its place among several processes behind the same ports. */
  readonly place?: number | undefined;
}): Promise<Product> {
  const unknown = await migrate(options.core.databaseUrl);
  if (unknown.length > 0) options.log.warn("the database is newer than this program", { unknown });
  const { dashboard } = options.core;
  const withFiles = dashboard && { ...dashboard, files: dashboard.files ?? DASHBOARD_FILES };
  const scraped = await openMetrics(options.core.metrics, options.place);
  const traces = await openTraces(options.core.traces, "activity", options.log);
  const app = createServerApp(
    { ...options.core, dashboard: withFiles },
    options.log,
    scraped.metrics,
  );
  const gateway = createGateway({
    upstream: app.localTransport,
    trustedProxies: options.gateway.trustedProxies,
    log: options.log,
    metrics: scraped.metrics,
  });
  // What is open, to be closed in the opposite order.
  const open: (() => Promise<void>)[] = [traces.close, async () => scraped.close(), app.close];
  const drains = [app.drain, gateway.drain];
  const stop = async () => {
    for (const close of open.toReversed()) await close();
  };
  try {
    const isAsked = options.core.health !== undefined || options.place !== undefined;
    const check = isAsked ? startCoreCheck(app.localTransport, options.log) : undefined;
    open.push(async () => check?.stop());
    const state = () => (gateway.isDraining() ? "draining" : (check?.state() ?? "serving"));
    const health = await openHealth(options.core.health, state);
    open.push(async () => health.close());
    const listener = await app.listen();
    open.push(listener.close);
    const browsers = await app.listenToBrowsers();
    if (browsers !== undefined) open.push(browsers.close);
    const { port } = await gateway.listen(options.gateway.port, options.gateway.host);
    open.push(gateway.close);
    if (options.deliveries !== undefined) {
      const { deliveries: config, log } = options;
      // Temporal's client and worker take 50 MB: who only reads and writes needs none of them.
      const { startDeliveries } = await import("@activity/workflows");
      const deliveries = startDeliveries({ config, core: app.localTransport, log, scraped });
      drains.push(deliveries.drain);
      open.push(() => deliveries.stop());
    }
    return {
      gatewayPort: port,
      corePort: listener.port,
      dashboardPort: browsers?.port,
      metricsPort: scraped.address?.port,
      state,
      drain() {
        for (const drain of drains) drain();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
