import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import type { ReceivedRequest } from "../harness-receiver.ts";
import { byShares, type Count, countRequests, type Shares } from "./harness-counting.ts";
import { expectEngineAgrees, expectRetriesHaveTimers } from "./harness-engine.ts";
import type { Victim } from "./harness-process.ts";
import { SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";
import { countInFlight, countOutbox, countStates, listEventIds } from "./harness-states.ts";
import { createParty, type Party, type Written, writeDonations } from "./harness-writers.ts";

/** What is known of a victim's run when its last kill is over. */
export type KilledRun = {
  readonly name: string;
  readonly party: Party;
  /** Seconds from the start of deliveries to each kill. */
  readonly killedAt: readonly number[];
  readonly callsRepeated: number;
  /** The most deliveries that were seen in flight at once. */
  readonly mostInFlight: number;
  /** How many timers were found in Temporal after the last kill. */
  readonly timers: number;
  readonly startedMs: number;
};

/** Many timers, and some attempts that last. */
export const SHARES: Shares = { failing: 0.4, slow: 0.1 };
const SHORTEST_LIFE_MS = 50;
const LONGEST_DEATH_MS = 1_000;
const LOOK_MS = 500;

/** What is killed in a run, and what delivers in it. */
export type KillPlan = {
  readonly name: string;
  readonly victim: Victim;
  readonly deliverers: readonly Victim[];
  /** How long the victim works at most before it is killed again. */
  readonly longestLifeMs: number;
};

/** Writes events, delivers them with `deliverers`, and kills `victim` at random moments meanwhile. */
export async function runWithKills(
  stack: CrashStack,
  { name, victim, deliverers, longestLifeMs }: KillPlan,
): Promise<KilledRun> {
  stack.receiver.behaviour = byShares(SHARES);
  const party = await createParty(stack);
  const before = writeDonations(stack, party, SIZE.backlog);
  await before;
  const startedMs = performance.now();
  await Promise.all(deliverers.map((deliverer) => deliverer.start()));
  const looking = watchInFlight(stack, party);
  const writing: Promise<Written>[] = [before];
  const killedAt: number[] = [];
  for (let kill = 0; kill < SIZE.kills; kill++) {
    writing.push(writeDonations(stack, party, (SIZE.events - SIZE.backlog) / SIZE.kills));
    await wait(randomInt(SHORTEST_LIFE_MS, longestLifeMs));
    killedAt.push(Math.round((performance.now() - startedMs) / 100) / 10);
    await victim.kill();
    await wait(randomInt(LONGEST_DEATH_MS));
    await victim.start();
  }
  const written = await Promise.all(writing);
  const { core, database, temporal } = stack;
  expect([core, database, temporal, ...deliverers].every((part) => part.isRunning())).toBe(true);
  const timers = await expectRetriesHaveTimers(stack);
  const mostInFlight = await looking.stop();
  const callsRepeated = written.reduce((sum, one) => sum + one.callsRepeated, 0);
  return { name, party, killedAt, callsRepeated, mostInFlight, timers, startedMs };
}

/** Looks again and again how many deliveries are in flight; a dead database says nothing. */
function watchInFlight(stack: CrashStack, party: Party): { stop(): Promise<number> } {
  const stopping = new AbortController();
  const watching = watch();
  return {
    stop() {
      stopping.abort();
      return watching;
    },
  };

  async function watch(): Promise<number> {
    let most = 0;
    while (!stopping.signal.aborted) {
      most = Math.max(most, await countInFlight(stack, party).catch(() => 0));
      await wait(LOOK_MS);
    }
    return most;
  }
}

/** Waits until none of a party's deliveries is under way. */
export async function untilAllEnded(stack: CrashStack, party: Party): Promise<void> {
  const timeout = SIZE.settleMinutes * 60_000;
  await expect
    .poll(() => countStates(stack, party), { timeout, interval: 500 })
    .toEqual({
      Delivered: expect.any(Number),
    });
}

/** What a party's endpoints received. */
export function requestsOf({ receiver }: CrashStack, { path }: Party): ReceivedRequest[] {
  return receiver.requests.filter(({ requestLine }) => requestLine.includes(path));
}

/** Holds that each of a party's events arrived, in the same bytes every time, and that no state contradicts it. */
export async function expectNothingLost(
  stack: CrashStack,
  { party, events, shares }: { party: Party; events: number; shares: Shares },
): Promise<Count> {
  await untilAllEnded(stack, party);
  expect(await countStates(stack, party)).toEqual({ Delivered: events });
  const count = countRequests(requestsOf(stack, party), shares);
  const stored = await listEventIds(stack, party);
  expect(stored).toHaveLength(events);
  expect(stored.filter((id) => !count.ids.has(id))).toEqual([]);
  expect(count.ids.size).toBe(events);
  expect(count.differing).toEqual([]);
  // What a killed relay had claimed is marked when its lease is over.
  await expect.poll(() => countOutbox(stack), { timeout: 60_000, interval: 500 }).toBe(0);
  await expectEngineAgrees(stack);
  return count;
}
