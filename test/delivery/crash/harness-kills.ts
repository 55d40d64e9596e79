import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { headerOf } from "../harness-deliveries.ts";
import type { ReceivedRequest } from "../harness-receiver.ts";
import { byShares, type Count, countRequests, type Shares } from "./harness-counting.ts";
import { expectEngineAgrees, expectRetriesWait } from "./harness-engine.ts";
import { createGate } from "./harness-gate.ts";
import type { Victim } from "./harness-process.ts";
import { SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";
import {
  countInFlight,
  countOutbox,
  countStates,
  type InFlight,
  listEventIds,
} from "./harness-states.ts";
import { createParty, type Party, type Written, writeDonations } from "./harness-writers.ts";

/** What is known of a victim's run when its last kill is over. */
export type KilledRun = {
  readonly name: string;
  readonly party: Party;
  /** Seconds from the start of deliveries to each kill. */
  readonly killedAt: readonly number[];
  /** What was in flight when each kill came. */
  readonly inFlight: readonly InFlight[];
  /** How many deliveries that were to be tried again had their workflow in Temporal after the last kill. */
  readonly retrying: number;
  readonly callsRepeated: number;
  readonly startedMs: number;
};

/** Many timers, and some attempts that last. */
export const SHARES: Shares = { failing: 0.4, slow: 0.1 };
/** How many events a run with kills has in all. */
export const WRITTEN = SIZE.events + SIZE.kills * SIZE.writtenPerLife;
const SHORTEST_LIFE_MS = 50;
const LONGEST_DEATH_MS = 1_000;

/** What is killed in a run, and what delivers in it. */
export type KillPlan = {
  readonly name: string;
  readonly victim: Victim;
  readonly deliverers: readonly Victim[];
  /** How long the victim works at most before it is killed again. */
  readonly longestLifeMs: number;
};

/**
 * Writes events, delivers them with `deliverers`, and kills `victim` at random moments meanwhile. The receiver
 * answers first attempts so slowly that most of the events are in flight until the last kill is over.
 */
export async function runWithKills(
  stack: CrashStack,
  { name, victim, deliverers, longestLifeMs }: KillPlan,
): Promise<KilledRun> {
  const party = await createParty(stack, { accounts: SIZE.accounts });
  const gate = createGate(byShares(SHARES), isFirstAttemptOf(party));
  stack.receiver.behaviour = gate.behaviour;
  const writing: Promise<Written>[] = [writeDonations(stack, party, SIZE.events)];
  await Promise.all(writing);
  const startedMs = performance.now();
  await Promise.all(deliverers.map((deliverer) => deliverer.start()));
  const killedAt: number[] = [];
  const inFlight: InFlight[] = [];
  for (let kill = 0; kill < SIZE.kills; kill++) {
    writing.push(writeDonations(stack, party, SIZE.writtenPerLife));
    const stopLetting = gate.letThroughEvery(longestLifeMs / SIZE.answeredPerLife);
    await wait(randomInt(SHORTEST_LIFE_MS, longestLifeMs));
    stopLetting();
    inFlight.push(await countInFlight(stack, party));
    killedAt.push(Math.round((performance.now() - startedMs) / 100) / 10);
    await victim.kill();
    await wait(randomInt(LONGEST_DEATH_MS));
    await victim.start();
  }
  gate.open();
  const written = await Promise.all(writing);
  const { core, database, temporal } = stack;
  expect([core, database, temporal, ...deliverers].every((part) => part.isRunning())).toBe(true);
  const retrying = await expectRetriesWait(stack);
  const callsRepeated = written.reduce((sum, one) => sum + one.callsRepeated, 0);
  return { name, party, killedAt, inFlight, retrying, callsRepeated, startedMs };
}

/**
 * Holds that every kill came while deliveries were in flight: the first one while all were but those that the
 * receiver had answered, which no retry can have delivered by then.
 */
export function expectKilledInFlight({ inFlight }: KilledRun): void {
  const counts = inFlight.map(({ all }) => all);
  expect(counts).toHaveLength(SIZE.kills);
  expect(counts[0]).toBeGreaterThanOrEqual(SIZE.events - SIZE.answeredPerLife);
  expect(Math.min(...counts)).toBeGreaterThan(0);
}

/** Only these are kept waiting: a repeated attempt that timed out would be repeated minutes later. */
function isFirstAttemptOf(party: Party): (request: ReceivedRequest) => boolean {
  return (request) =>
    request.requestLine.includes(party.path) && headerOf(request, "Service-Attempt") === "1";
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
