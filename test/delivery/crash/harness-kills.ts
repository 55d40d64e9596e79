import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { headerOf } from "../harness-deliveries.ts";
import type { ReceivedRequest } from "../harness-receiver.ts";
import { type AttemptName, inFlightOf, listRecorded, nameOf } from "./harness-attempts.ts";
import { createGate } from "./harness-gate.ts";
import type { Victim } from "./harness-process.ts";
import { byShares, type Shares } from "./harness-shares.ts";
import { type KillsSize, SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";
import {
  countInFlight,
  countStates,
  countStillLeased,
  type Lease,
  listLeases,
} from "./harness-states.ts";
import { expectRetriesWait } from "./harness-temporal.ts";
import { createParty, type Party, writeDonations } from "./harness-writers.ts";

/** The victim of a run and its load. */
export type KillPlan = {
  readonly victim: Victim;
  /** Makes the deliveries. It may be the victim itself. */
  readonly dispatcher: Victim;
  readonly size: KillsSize;
  /** The longest time between a victim's start and its next kill. */
  readonly longestLifeMs: number;
};

/** The facts of a run after the last kill, once its attempts in flight have continued. */
export type KilledRun = {
  readonly party: Party;
  readonly events: number;
  /** How many deliveries had not ended at each kill. */
  readonly inFlight: readonly number[];
  /** The attempts in flight at the kills, of any party, once for each kill. */
  readonly attempts: readonly AttemptName[];
};

/** Shares that give many retries and some long attempts. */
const SHARES: Shares = { failing: 0.4, slow: 0.1 };
const SHORTEST_LIFE_MS = 50;
/** Long enough for the receiver to read what the victim had sent. */
const SHORTEST_DEATH_MS = 200;
const LONGEST_DEATH_MS = 1_000;
/** A limit that only a stuck delivery reaches. */
const GOES_ON = { timeout: SIZE.settleMinutes * 60_000, interval: 100 };

/**
 * Writes events and kills `victim` at random moments while they are delivered. The receiver answers first attempts so
 * slowly that most events are in flight until the last kill.
 */
export async function runWithKills(
  stack: CrashStack,
  { victim, dispatcher, size, longestLifeMs }: KillPlan,
): Promise<KilledRun> {
  const party = await createParty(stack, size.accounts);
  const gate = createGate(byShares(SHARES), isFirstAttemptOf(party));
  stack.receiver.behaviour = gate.behaviour;
  await writeDonations(stack, party, size.events);
  const writing: Promise<void>[] = [];
  if (!dispatcher.isRunning()) await dispatcher.start();
  const inFlight: number[] = [];
  const attempts: AttemptName[] = [];
  let last: Killed = { leases: [], attempts: [], requestsBefore: 0 };
  for (let kill = 0; kill < size.kills; kill++) {
    writing.push(writeDonations(stack, party, size.writtenPerLife));
    const stopLetting = gate.letThroughEvery(longestLifeMs / size.answeredPerLife);
    await wait(randomInt(SHORTEST_LIFE_MS, longestLifeMs));
    stopLetting();
    inFlight.push(await countInFlight(stack, party));
    last = await killInFlight(stack, victim);
    await victim.start();
    attempts.push(...last.attempts);
  }
  gate.open();
  await untilGoneOn(stack, last);
  await Promise.all(writing);
  // The next run may make first attempts in another way.
  await expect.poll(async () => (await countStates(stack, party)).Pending, GOES_ON).toBe(undefined);
  const { core, database, vitess = database, temporal } = stack;
  const parts = [core, database, vitess, temporal, dispatcher];
  expect(parts.every((part) => part.isRunning())).toBe(true);
  await expectRetriesWait(stack);
  const events = size.events + size.kills * size.writtenPerLife;
  return { party, events, inFlight, attempts };
}

/** The state at a kill: leased entries, attempts in flight, and the number of requests when it was over. */
export type Killed = {
  readonly leases: readonly Lease[];
  readonly attempts: readonly AttemptName[];
  readonly requestsBefore: number;
};

/** Kills a victim. Returns what was in flight. */
export async function killInFlight(stack: CrashStack, victim: Victim): Promise<Killed> {
  const { requests } = stack.receiver;
  // These reads come before the kill, because the victim may be the server that answers them.
  const recorded = await listRecorded(stack);
  const leases = await listLeases(stack);
  await victim.kill();
  await wait(randomInt(SHORTEST_DEATH_MS, LONGEST_DEATH_MS));
  return { leases, attempts: inFlightOf(requests, recorded), requestsBefore: requests.length };
}

/** Waits until nothing of a kill is left: leases ended or were replaced, attempts were recorded or made again. */
async function untilGoneOn(
  stack: CrashStack,
  { leases, attempts, requestsBefore }: Killed,
): Promise<void> {
  const countLeft = async () => {
    const recorded = await listRecorded(stack);
    const since = new Set(stack.receiver.requests.slice(requestsBefore).map(nameOf));
    const left = attempts.filter((name) => !recorded.has(name) && !since.has(name));
    return left.length + (await countStillLeased(stack, leases));
  };
  await expect.poll(countLeft, GOES_ON).toBe(0);
}

/**
 * Checks that deliveries were in flight at every kill. At the first kill all were, except those that the receiver had
 * answered.
 */
export function expectKilledInFlight({ inFlight }: KilledRun, size: KillsSize): void {
  expect(inFlight).toHaveLength(size.kills);
  expect(inFlight[0]).toBeGreaterThanOrEqual(size.events - size.answeredPerLife);
  expect(Math.min(...inFlight)).toBeGreaterThan(0);
}

/** Only first attempts wait. A retry that times out is made again only minutes later. */
function isFirstAttemptOf(party: Party): (request: ReceivedRequest) => boolean {
  return (request) =>
    request.requestLine.includes(party.path) && headerOf(request, "Service-Attempt") === "1";
}
