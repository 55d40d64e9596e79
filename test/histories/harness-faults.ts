import { setTimeout as wait } from "node:timers/promises";
import type { Way } from "./harness-go.ts";
import { PARTS_OF_PLACE, type Product } from "./harness-product.ts";

/** How long the database's disk is full; then the server finds out within a minute. */
const FULL_MS = 20_000;
const HOUR_SECONDS = 3_600;
const STEP_EVERY_MS = 15_000;
const [STARTS, START_AGAIN_MS] = [60, 1_000];

/** Mulberry32: the same faults from the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Victim = { signal(signal: NodeJS.Signals): void; start(): Promise<void> };

/** Starts a process as a supervisor does: a core that finds no database ends. */
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

/** Faults that go on. */
export type Faults = ReturnType<typeof startFaults>;

/**
 * Breaks ways and processes by turns, some at once, and steps the database's clock, until it is told to stop; then
 * heals all that is not cut for good. Each fault is noted with the millisecond that it began.
 */
export function startFaults({ ways, instances, database }: Product, seed: number) {
  const [random, randomStep] = [seeded(seed), seeded(seed + 2)];
  const began = performance.now();
  const told: string[] = [];
  const processes: readonly Victim[] = [...instances, database];
  const broken = new Set<object>();
  const forGood = new Set<Way>();
  const any = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value;
  const upTo = (most: number) => Math.ceil(random() * most);
  const tell = (what: string) => told.push(`${Math.round(performance.now() - began)} ${what}`);
  const stopped = new AbortController();
  const hasStopped = () => stopped.signal.aborted;
  const pause = (ms: number) =>
    wait(ms, undefined, { signal: stopped.signal }).catch(() => undefined);
  let kills = 0.4;
  let dead = 0;

  const breakWay: readonly ((way: Way) => Promise<void>)[] = [
    (way) => way.cut("upstream"),
    (way) => way.cut("downstream"),
    (way) => way.slow(upTo(1_500)),
    (way) => way.narrow(upTo(20)),
    (way) => way.reset(upTo(200)),
  ];

  async function breakOne(one: Way, ms: number): Promise<void> {
    const how = Math.floor(random() * breakWay.length);
    tell(`way ${one.name} ${how} for ${ms}`);
    await breakWay[how]?.(one);
    await wait(ms);
    await one.heal();
  }

  async function stopOne(one: Victim, ms: number): Promise<void> {
    const isKilled = random() < kills;
    const name = PARTS_OF_PLACE[processes.indexOf(one)] ?? "database";
    tell(`${isKilled ? "kill" : "stop"} ${name} for ${ms}`);
    one.signal(isKilled ? "SIGKILL" : "SIGSTOP");
    if (isKilled) dead += 1;
    await wait(ms);
    if (isKilled) await startAgain(one).finally(() => dead--);
    else one.signal("SIGCONT");
  }

  async function breakAny(): Promise<void> {
    const isProcess = random() < 0.25;
    const one = any<Way | Victim>(isProcess ? processes : ways);
    if (broken.has(one)) return;
    broken.add(one);
    const ms = upTo(random() < 0.2 ? 12_000 : 3_000);
    await ("heal" in one ? breakOne(one, ms) : stopOne(one, ms));
    broken.delete(one);
  }

  async function breakByTurns(): Promise<void> {
    while (!hasStopped()) {
      await breakAny();
      await pause(upTo(1_500));
    }
  }

  /** From a second to an hour from the true time, ahead or behind. */
  async function stepClock(): Promise<void> {
    while (!hasStopped()) {
      await pause(STEP_EVERY_MS * (0.5 + randomStep()));
      const seconds = Math.round(HOUR_SECONDS ** randomStep()) * (randomStep() < 0.5 ? -1 : 1);
      tell(`the database's clock is wrong by ${seconds} s`);
      await database.stepTo(seconds);
    }
  }

  const loops = [breakByTurns(), breakByTurns(), stepClock()];
  return {
    told,
    /** From now on processes are stopped, and none is killed. Resolves once all live. */
    async spareLives(): Promise<void> {
      kills = 0;
      while (dead > 0) await wait(100);
    },
    /** Leaves the database no room for a while. */
    async fillDisk(): Promise<void> {
      while (broken.has(database)) await wait(100);
      broken.add(database);
      tell("the database's disk is full");
      await database.fill();
      await pause(FULL_MS);
      await database.free();
      tell("the database's disk has room");
      broken.delete(database);
    },
    /** Cuts the first deliveries off from their core for good, and breaks nothing else of them. */
    async cutForGood(): Promise<void> {
      const name = "deliveries-1-core";
      const way = ways.find((one) => one.name === name);
      const cutOff = instances[2];
      if (way === undefined || cutOff === undefined) throw new Error(`no way is called ${name}`);
      forGood.add(way);
      while (broken.has(way) || broken.has(cutOff)) await wait(100);
      broken.add(way).add(cutOff);
      tell(`${name} for good`);
      await way.cut("downstream");
    },
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.all(loops);
      for (const way of ways) if (!forGood.has(way)) await way.heal();
    },
  };
}
