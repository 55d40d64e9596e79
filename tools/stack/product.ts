import { createGateway } from "@activity/gateway";
import { createServerApp, type Log, migrate, type ServerConfig } from "@activity/server";
import type { DeliveryConfig } from "@activity/workflows";

/**
 * The running product: the gateway external clients call, the core internal services call, and what
 * delivers webhook events.
 */
export type Product = {
  readonly gatewayPort: number;
  readonly corePort: number;
  stop(): Promise<void>;
};

/**
 * Runs core, gateway and deliveries in this process, the others calling the core as functions: the
 * composition that one machine needs. The core's port is open to internal services all the same.
 */
export async function startProduct(options: {
  readonly core: ServerConfig;
  readonly gateway: {
    readonly host: string;
    readonly port: number;
    readonly trustedProxies: readonly string[];
  };
  /** Without it, webhook events wait in the outbox. */
  readonly deliveries?: DeliveryConfig | undefined;
  readonly log: Log;
}): Promise<Product> {
  await migrate(options.core.databaseUrl);
  const app = createServerApp(options.core, options.log);
  const gateway = createGateway({
    upstream: app.localTransport,
    trustedProxies: options.gateway.trustedProxies,
    log: options.log,
  });
  // What is open, to be closed in the opposite order.
  const open: (() => Promise<void>)[] = [app.close];
  const stop = async () => {
    for (const close of open.toReversed()) await close();
  };
  try {
    const listener = await app.listen();
    open.push(listener.close);
    const { port } = await gateway.listen(options.gateway.port, options.gateway.host);
    open.push(gateway.close);
    if (options.deliveries !== undefined) {
      const { deliveries: config, log } = options;
      // Temporal's client and worker take 50 MB: who only reads and writes needs none of them.
      const { startDeliveries } = await import("@activity/workflows");
      const deliveries = startDeliveries({ config, core: app.localTransport, log });
      open.push(() => deliveries.stop());
    }
    return { gatewayPort: port, corePort: listener.port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
