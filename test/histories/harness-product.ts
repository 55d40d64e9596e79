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
import { startBadDatabase } from "./harness-database.ts";
import { startToxiproxy, type Way } from "./harness-go.ts";

/** Two of each process on a database, a Temporal and a Redis, with a way between any two that speak. */
export type Product = Awaited<ReturnType<typeof startProduct>>;

const PLACES = [1, 2] as const;
/** What its instances are, in their order. */
export const PARTS_OF_PLACE = PLACES.flatMap((place) =>
  ["core", "gateway", "deliveries"].map((part) => `${part} ${place}`),
);
const PLANT_HERE = new URL("plant-here.ts", import.meta.url).href;
const COLLECT_HERE = new URL("collect-here.ts", import.meta.url).href;
const portOf = (url: string) => Number(new URL(url).port);

function through(url: string, way: Way): string {
  const changed = new URL(url);
  changed.port = `${way.port}`;
  return changed.href;
}

/** Starts it; programs of Go are in `programs`. Each process has the bug, if there is one. */
export async function startProduct(folder: string, programs: string, bug?: HistoryBug) {
  const planted = bug
    ? { PLANTED: JSON.stringify(bug), NODE_OPTIONS: `--import=${PLANT_HERE}` }
    : { NODE_OPTIONS: `--import=${COLLECT_HERE}` };
  const { receiver, trusting } = await startTrustedReceiver(folder, answer(200));
  /** Sets up and looks on. */
  const database = await startBadDatabase(folder);
  const stack = await startTestStack({ serverUrl: database.url, env: { ...KEYS, ...trusting } });
  const dataDir = join(folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const redis = await startTestRedis();
  const toxiproxy = await startToxiproxy(programs);
  const ways: Way[] = [];
  const way = async (name: string, to: number) => {
    const made = await toxiproxy.way(name, to);
    ways.push(made);
    return made;
  };
  const address = (to: Way) => `127.0.0.1:${to.port}`;
  const instances: ProcessInstance[] = [];
  const ports: { cores: number[]; gateways: number[] } = { cores: [], gateways: [] };
  const core = await stack.credential(Permission.ClientAddressForward);
  const dispatcher = await stack.credential(Permission.DeliveryDispatch);
  for (const place of PLACES) {
    const toDatabase = await way(`core-${place}-database`, portOf(stack.database.url));
    const toRedis = await way(`core-${place}-redis`, portOf(redis.url));
    const one = await createInstance("core", {
      ...{
        ...planted,
        ...KEYS,
        ...trusting,
        DATABASE_URL: through(stack.database.url, toDatabase),
      },
      REDIS_URL: through(redis.url, toRedis),
    });
    const toCore = async (from: string) => {
      const made = await way(`${from}-${place}-core`, one.port);
      return { CORE_URL: `http://${address(made)}` };
    };
    const gateway = await createInstance("gateway", {
      ...{ ...planted, ...(await toCore("gateway")) },
      GATEWAY_CREDENTIAL: core,
    });
    const toTemporal = await way(
      `deliveries-${place}-temporal`,
      Number(temporal.address.split(":")[1]),
    );
    const deliveries = await createInstance("deliveries", {
      ...{ ...planted, ...trusting, ...(await toCore("deliveries")) },
      ...{ CORE_CREDENTIAL: dispatcher, TEMPORAL_ADDRESS: address(toTemporal) },
    });
    ports.cores.push((await way(`writers-${place}-core`, one.port)).port);
    ports.gateways.push((await way(`readers-${place}-gateway`, gateway.port)).port);
    instances.push(one, gateway, deliveries);
  }
  for (const one of instances) await one.start();

  return {
    ...{ receiver, stack, database, ways, instances, ports },
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
