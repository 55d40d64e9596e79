import { join } from "node:path";
import { Permission } from "@activity/server";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { startTestRedis } from "../harness/redis.ts";
import { startTestStack } from "../harness/stack.ts";
import { createInstance, type ProcessInstance } from "../operating/harness-instances.ts";
import { KEYS } from "../operating/harness-parts.ts";
import { type Link, startToxiproxy } from "./harness-go.ts";

/** Two of each process on one database, Temporal and Redis. Each connection between processes has a link. */
export type Product = Awaited<ReturnType<typeof startProduct>>;

const OF_ALL = {
  NODE_OPTIONS: `--import=${new URL("collect-here.ts", import.meta.url).href}`,
  // `npm start` and the image set this too. Without it, the memory arena of each new thread would count as growth.
  MALLOC_ARENA_MAX: "2",
};
const portOf = (url: string) => Number(new URL(url).port);

/** Starts a database that tests can kill, stop and start again with its data. */
async function startVictimDatabase(dataDir: string) {
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...env } = process.env;
  const start = () => startDatabase({ env, dataDir, progress: createProgress(), ephemeral: true });
  let server = await start();
  let killed = Promise.resolve();
  return {
    ...{ name: "database", url: server.url },
    signal(signal: NodeJS.Signals): void {
      if (signal === "SIGKILL") killed = server.kill();
      else process.kill(server.pid ?? 0, signal);
    },
    async start(): Promise<void> {
      await killed;
      server = await start();
    },
    stop: () => server.stop(),
  };
}

export async function startProduct(folder: string) {
  const { receiver, trusting } = await startTrustedReceiver(folder, answer(200));
  const database = await startVictimDatabase(join(folder, "database"));
  /** The tests' own core and gateway. Their connections have no faults. */
  const stack = await startTestStack({ serverUrl: database.url, env: { ...KEYS, ...trusting } });
  const dataDir = join(folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const redis = await startTestRedis();
  const toxiproxy = await startToxiproxy();
  const links: Link[] = [];
  /** Makes a link to a port. Returns the link's port. */
  const portTo = async (name: string, to: number) => {
    const link = await toxiproxy.link(name, to);
    links.push(link);
    return link.port;
  };
  /** Makes a link to a URL. Returns the URL with the link's port. */
  const urlTo = async (name: string, url: string) => {
    const changed = new URL(url);
    changed.port = `${await portTo(name, portOf(url))}`;
    return changed.href;
  };
  const instances: (ProcessInstance & { readonly name: string })[] = [];
  const ports: { cores: number[]; gateways: number[] } = { cores: [], gateways: [] };
  const gatewayCredential = await stack.credential(Permission.ClientAddressForward);
  const dispatcherCredential = await stack.credential(Permission.DeliveryDispatch);
  for (const place of [1, 2]) {
    const core = await createInstance("core", {
      ...{ ...OF_ALL, ...KEYS, ...trusting },
      DATABASE_URL: await urlTo(`core-${place}-database`, stack.database.url),
      REDIS_URL: await urlTo(`core-${place}-redis`, redis.url),
    });
    const gateway = await createInstance("gateway", {
      ...OF_ALL,
      CORE_URL: `http://127.0.0.1:${await portTo(`gateway-${place}-core`, core.port)}`,
      GATEWAY_CREDENTIAL: gatewayCredential,
      TRUSTED_PROXIES: "127.0.0.1/32",
    });
    const temporalPort = Number(temporal.address.split(":")[1]);
    const deliveries = await createInstance("deliveries", {
      ...{ ...OF_ALL, ...trusting },
      TEMPORAL_ADDRESS: `127.0.0.1:${await portTo(`deliveries-${place}-temporal`, temporalPort)}`,
      CORE_URL: `http://127.0.0.1:${await portTo(`deliveries-${place}-core`, core.port)}`,
      CORE_CREDENTIAL: dispatcherCredential,
    });
    ports.cores.push(await portTo(`writers-${place}-core`, core.port));
    ports.gateways.push(await portTo(`readers-${place}-gateway`, gateway.port));
    for (const [part, one] of Object.entries({ core, gateway, deliveries })) {
      instances.push({ ...one, name: `${part} ${place}` });
    }
  }
  for (const one of instances) await one.start();

  return {
    ...{ receiver, stack, database, links, instances, ports },
    credential: await stack.credential(...Object.values(Permission)),
    async stop() {
      for (const one of instances) one.signal("SIGKILL");
      await toxiproxy.stop();
      await stack.stop();
      await database.stop();
      await temporal.stop();
      await redis.stop();
      await receiver.stop();
    },
  };
}
