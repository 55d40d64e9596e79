import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "../simulation/random.ts";
import type { Link } from "./harness-go.ts";
import type { Product } from "./harness-product.ts";

const [STARTS, START_AGAIN_MS] = [60, 1_000];

type Victim = {
  readonly name: string;
  signal(signal: NodeJS.Signals): void;
  start(): Promise<void>;
};

/** Starts a process, and tries again after a failure, as a supervisor does: a core that finds no database ends. */
async function startAgain(one: Victim): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await one.start();
    } catch (error) {
      if (tries === STARTS) throw error;
      await wait(START_AGAIN_MS);
    }
  }
}

/**
 * Breaks random links and processes from `start` to `stop`, at most two at a time. Then heals all links except the one
 * that is cut for good. `told` lists the faults, each with its time in milliseconds.
 */
export function createFaults({ links, instances, database }: Product, seed: number) {
  const random = createRandom(seed);
  const began = performance.now();
  const told: string[] = [];
  const processes: readonly Victim[] = [...instances, database];
  const broken = new Set<object>();
  const forGood = new Set<Link>();
  const upTo = (most: number) => Math.ceil(random.next() * most);
  const tell = (what: string) => told.push(`${Math.round(performance.now() - began)} ${what}`);
  const stopped = new AbortController();
  const pause = (ms: number) =>
    wait(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
  /** The share of stopped processes that are killed, and how many are dead now. */
  let [kills, dead] = [0.4, 0];

  const linkFaults: readonly ((link: Link) => Promise<void>)[] = [
    (link) => link.cut("upstream"),
    (link) => link.cut("downstream"),
    (link) => link.slow(upTo(1_500)),
    (link) => link.narrow(upTo(20)),
    (link) => link.reset(upTo(200)),
  ];

  async function breakLink(link: Link, ms: number): Promise<void> {
    const how = random.below(linkFaults.length);
    tell(`link ${link.name} ${how} for ${ms}`);
    await linkFaults[how]?.(link);
    await wait(ms);
    await link.heal();
  }

  async function stopProcess(one: Victim, ms: number): Promise<void> {
    const isKilled = random.chance(kills);
    tell(`${isKilled ? "kill" : "stop"} ${one.name} for ${ms}`);
    one.signal(isKilled ? "SIGKILL" : "SIGSTOP");
    if (isKilled) dead += 1;
    await wait(ms);
    if (isKilled) await startAgain(one).finally(() => dead--);
    else one.signal("SIGCONT");
  }

  async function breakInTurn(): Promise<void> {
    while (!stopped.signal.aborted) {
      const one = random.pick<Link | Victim>(random.chance(0.25) ? processes : links);
      if (!broken.has(one)) {
        broken.add(one);
        const ms = upTo(random.chance(0.2) ? 12_000 : 3_000);
        await ("heal" in one ? breakLink(one, ms) : stopProcess(one, ms));
        broken.delete(one);
      }
      await pause(upTo(1_500));
    }
  }

  let loops: readonly Promise<void>[] = [];
  return {
    told,
    start() {
      loops = [breakInTurn(), breakInTurn()];
    },
    /** From now on stops processes only with SIGSTOP. Resolves once no process is dead. */
    async spareLives(): Promise<void> {
      kills = 0;
      while (dead > 0) await wait(100);
    },
    /** Cuts the first dispatcher off from its core for good. From then on its process is neither killed nor stopped. */
    async cutForGood(): Promise<void> {
      const name = "deliveries-1-core";
      const link = links.find((one) => one.name === name);
      const dispatcher = instances.find((one) => one.name === "deliveries 1");
      if (link === undefined || dispatcher === undefined) throw new Error(`no link is ${name}`);
      forGood.add(link);
      while (broken.has(link) || broken.has(dispatcher)) await wait(100);
      broken.add(link).add(dispatcher);
      tell(`${name} for good`);
      await link.cut("downstream");
    },
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.all(loops);
      for (const link of links) if (!forGood.has(link)) await link.heal();
    },
  };
}
