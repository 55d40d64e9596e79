import { fileURLToPath } from "node:url";
import { createGateway, type EdgeConfig, startCoreCheck } from "@activity/gateway";
import { openHealth } from "@activity/runtime/health";
import type { Log } from "@activity/runtime/log";
import { openMetrics } from "@activity/runtime/metrics-listener";
import { openTraces } from "@activity/runtime/traces-exporter";
import { createServerApp, migrate, type ServerConfig } from "@activity/server";
import type { DeliveryConfig } from "@activity/workflows";

/** The page that `npm run build --workspace dashboard` makes. */
const DASHBOARD_FILES = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));

/**
 * The running product: the gateway for external clients, the core for internal services, and the delivery of webhook
 * events.
 */
export type Product = {
  readonly gatewayPort: number;
  readonly corePort: number;
  /** The port of the dashboard for browsers, if it is served. */
  readonly dashboardPort: number | undefined;
  /** Returns the state that `/ready` reports. */
  state(): Promise<string>;
  /** Reports "draining" and tells connections to close, but still serves. Claims no more deliveries. */
  drain(): void;
  /** Waits for work in flight, then closes everything. */
  stop(): Promise<void>;
};

/**
 * Runs core, gateway and deliveries in this process. Gateway and deliveries call the core as functions. `npm run
 * serve` and `npm start` use this. The core's port is still open to internal services.
 */
export async function startProduct(options: {
  readonly core: ServerConfig;
  readonly gateway: EdgeConfig;
  /** The settings of deliveries. Without them, webhook events wait in the outbox. */
  readonly deliveries?: DeliveryConfig | undefined;
  readonly log: Log;
  /** This process's number among several behind the same ports. */
  readonly processNumber?: number | undefined;
}): Promise<Product> {
  // The functions that close the open parts. Parts with work in flight close first, all at the same time, because each
  // may take long. Then the others close in reverse order.
  const busy: (() => Promise<void>)[] = [];
  const open: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(busy.map((close) => close()));
    for (const close of open.toReversed()) await close();
  };
  try {
    let readState = async () => "starting";
    // The ports for health and metrics open before the migration, which may take minutes.
    const { log } = options;
    const health = await openHealth(options.core.health, () => readState(), log);
    open.push(async () => health.close());
    const scraped = await openMetrics(options.core.metrics, log, options.processNumber);
    open.push(async () => scraped.close());
    const unknown = await migrate(options.core.databaseUrl, log);
    if (unknown.length > 0) log.warn("the database is newer than this program", { unknown });
    const { dashboard } = options.core;
    const withFiles = dashboard && { ...dashboard, files: dashboard.files ?? DASHBOARD_FILES };
    const traces = await openTraces(options.core.traces, "activity", log);
    const app = createServerApp({ ...options.core, dashboard: withFiles }, log, scraped.metrics);
    const gateway = createGateway({
      upstream: app.localTransport,
      trustedProxies: options.gateway.trustedProxies,
      log,
      metrics: scraped.metrics,
    });
    open.push(traces.close, app.close);
    const drains = [app.drain, gateway.drain];
    const listener = await app.listen();
    busy.push(listener.close);
    const isAsked =
      (options.core.health ?? options.core.metrics ?? options.processNumber) !== undefined;
    // Starts the check only now. An earlier check would fail while the core still connects to Redis.
    const check = isAsked ? startCoreCheck(app.localTransport, log, scraped.metrics) : undefined;
    open.push(async () => check?.stop());
    // With Redis the gateway's check passes without a database, so ask the core too.
    const state = async () => {
      const core = await app.readState();
      if (gateway.isDraining()) return "draining";
      return core === "serving" ? (check?.state() ?? "serving") : core;
    };
    const browsers = await app.listenToBrowsers();
    if (browsers !== undefined) busy.push(browsers.close);
    const { port } = await gateway.listen(options.gateway.port, options.gateway.host);
    busy.push(gateway.close);
    if (options.deliveries !== undefined) {
      const { deliveries: config } = options;
      // Loads Temporal's client and worker only here. They take 50 MB, which a process without deliveries does not
      // need.
      const { startDeliveries } = await import("@activity/workflows");
      const deliveries = startDeliveries({ config, core: app.localTransport, log, scraped });
      drains.push(deliveries.drain);
      busy.push(() => deliveries.stop());
    }
    readState = state;
    return {
      gatewayPort: port,
      corePort: listener.port,
      dashboardPort: browsers?.port,
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
