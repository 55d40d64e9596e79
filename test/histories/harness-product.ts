import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Permission } from "@activity/server";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { startTestRedis } from "../harness/redis.ts";
import { startTestStack } from "../harness/stack.ts";
import { createInstance, type ProcessInstance } from "../operating/harness-instances.ts";
import { KEYS } from "../operating/harness-parts.ts";
import { startToxiproxy, type Way } from "./harness-go.ts";

/** Two of each process on a database, a Temporal and a Redis, with a way between any two that speak. */
export type Product = Awaited<ReturnType<typeof startProduct>>;

const PLACES = [1, 2] as const;
const portOf = (url: string) => Number(new URL(url).port);

function through(url: string, way: Way): string {
  const changed = new URL(url);
  changed.port = `${way.port}`;
  return changed.href;
}

/** Starts it; programs of Go are in `folder`. */
export async function startProduct(folder: string) {
  const { receiver, trusting } = await startTrustedReceiver(folder, answer(200));
  /** Sets up and looks on. */
  const stack = await startTestStack({ env: { ...KEYS, ...trusting } });
  const dataDir = join(folder, "temporal");
  const temporal = await startTemporal({ env: process.env, dataDir, progress: createProgress() });
  const redis = await startTestRedis();
  const toxiproxy = await startToxiproxy(folder);
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
      ...{ ...KEYS, ...trusting, DATABASE_URL: through(stack.database.url, toDatabase) },
      REDIS_URL: through(redis.url, toRedis),
    });
    const toCore = async (from: string) => {
      const made = await way(`${from}-${place}-core`, one.port);
      return { CORE_URL: `http://${address(made)}` };
    };
    const gateway = await createInstance("gateway", {
      ...(await toCore("gateway")),
      GATEWAY_CREDENTIAL: core,
    });
    const toTemporal = await way(
      `deliveries-${place}-temporal`,
      Number(temporal.address.split(":")[1]),
    );
    const deliveries = await createInstance("deliveries", {
      ...{ ...trusting, ...(await toCore("deliveries")) },
      ...{ CORE_CREDENTIAL: dispatcher, TEMPORAL_ADDRESS: address(toTemporal) },
    });
    ports.cores.push((await way(`writers-${place}-core`, one.port)).port);
    ports.gateways.push((await way(`readers-${place}-gateway`, gateway.port)).port);
    instances.push(one, gateway, deliveries);
  }
  for (const one of instances) await one.start();

  return {
    ...{ receiver, stack, ways, instances, ports },
    credential: await stack.credential(...Object.values(Permission)),
    async stop() {
      for (const one of instances) one.signal("SIGKILL");
      await toxiproxy.stop();
      await stack.stop();
      await temporal.stop();
      await redis.stop();
      await receiver.stop();
    },
  };
}

/**
 * Breaks ways and processes by turns, some at once, until it is told to stop; then heals all that is not cut
 * for good. Each fault is noted with the millisecond that it began.
 */
export function startFaults({ ways, instances }: Product, random: () => number) {
  const began = performance.now();
  const told: string[] = [];
  const broken = new Set<object>();
  const forGood = new Set<Way>();
  const any = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value;
  const upTo = (most: number) => Math.ceil(random() * most);
  let isStopped = false;

  const breakWay: readonly ((way: Way) => Promise<void>)[] = [
    (way) => way.cut("upstream"),
    (way) => way.cut("downstream"),
    (way) => way.slow(upTo(1_500)),
    (way) => way.narrow(upTo(20)),
    (way) => way.reset(upTo(200)),
  ];

  async function breakOne(one: Way, ms: number): Promise<void> {
    const how = Math.floor(random() * breakWay.length);
    told.push(`${Math.round(performance.now() - began)} way ${one.name} ${how} for ${ms}`);
    await breakWay[how]?.(one);
    await wait(ms);
    await one.heal();
  }

  async function stopOne(one: ProcessInstance, ms: number): Promise<void> {
    const isKilled = random() < 0.4;
    told.push(
      `${Math.round(performance.now() - began)} ${isKilled ? "kill" : "stop"} ${instances.indexOf(one)} for ${ms}`,
    );
    one.signal(isKilled ? "SIGKILL" : "SIGSTOP");
    await wait(ms);
    if (isKilled) await one.start();
    else one.signal("SIGCONT");
  }

  async function breakAny(): Promise<void> {
    const isProcess = random() < 0.25;
    const one = any<Way | ProcessInstance>(isProcess ? instances : ways);
    if (broken.has(one)) return;
    broken.add(one);
    const ms = upTo(random() < 0.2 ? 12_000 : 3_000);
    await ("heal" in one ? breakOne(one, ms) : stopOne(one, ms));
    broken.delete(one);
  }

  const loops = [1, 2].map(async () => {
    while (!isStopped) {
      await breakAny();
      await wait(upTo(1_500));
    }
  });
  return {
    told,
    /** Cuts the first deliveries off from their core for good, and breaks nothing else of them. */
    async cutForGood(): Promise<void> {
      const name = "deliveries-1-core";
      const way = ways.find((one) => one.name === name);
      const cutOff = instances[2];
      if (way === undefined || cutOff === undefined) throw new Error(`no way is called ${name}`);
      forGood.add(way);
      while (broken.has(way) || broken.has(cutOff)) await wait(100);
      broken.add(way).add(cutOff);
      told.push(`${Math.round(performance.now() - began)} ${name} for good`);
      await way.cut("downstream");
    },
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(loops);
      for (const way of ways) if (!forGood.has(way)) await way.heal();
    },
  };
}
