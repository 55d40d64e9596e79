import { join } from "node:path";
import { Permission } from "@activity/server";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { startTestRedis } from "../harness/redis.ts";
import { startTestStack } from "../harness/stack.ts";
import { createInstance, type ProcessInstance } from "../operating/harness-instances.ts";
import { KEYS } from "../operating/harness-parts.ts";
import type { HistoryBug } from "./harness-bugs.ts";
import { ARENAS, startBadDatabase } from "./harness-database.ts";
import { type Link, startToxiproxy } from "./harness-go.ts";

/** Two of each process on one database, Temporal and Redis. Each connection between processes has a link. */
export type Product = Awaited<ReturnType<typeof startProduct>>;

const PLANT_HERE = new URL("plant-here.ts", import.meta.url).href;
const COLLECT_HERE = new URL("collect-here.ts", import.meta.url).href;
const portOf = (url: string) => Number(new URL(url).port);

/** Starts the product. Each process has the bug, if there is one. */
export async function startProduct(folder: string, bug?: HistoryBug) {
  const planted = bug
    ? { ...ARENAS, PLANTED: JSON.stringify(bug), NODE_OPTIONS: `--import=${PLANT_HERE}` }
    : { ...ARENAS, NODE_OPTIONS: `--import=${COLLECT_HERE}` };
  const { receiver, trusting } = await startTrustedReceiver(folder, answer(200));
  const database = await startBadDatabase(folder);
  /** The tests' own core and gateway. Their connections have no faults. */
  const stack = await startTestStack({ serverUrl: database.url, env: { ...KEYS, ...trusting } });
  const dataDir = join(folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const redis = await startTestRedis();
  const toxiproxy = await startToxiproxy();
  const links: Link[] = [];
  /** Makes a link to a port. Returns its own port. */
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
      ...{ ...planted, ...KEYS, ...trusting },
      DATABASE_URL: await urlTo(`core-${place}-database`, stack.database.url),
      REDIS_URL: await urlTo(`core-${place}-redis`, redis.url),
    });
    const gateway = await createInstance("gateway", {
      ...planted,
      CORE_URL: `http://127.0.0.1:${await portTo(`gateway-${place}-core`, core.port)}`,
      GATEWAY_CREDENTIAL: gatewayCredential,
      TRUSTED_PROXIES: "127.0.0.1/32",
    });
    const temporalPort = Number(temporal.address.split(":")[1]);
    const deliveries = await createInstance("deliveries", {
      ...{ ...planted, ...trusting },
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
