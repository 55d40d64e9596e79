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

/** What is killed in a run, and amid what. */
export type KillPlan = {
  readonly victim: Victim;
  /** Makes the deliveries, as a victim or beside it. */
  readonly dispatcher: Victim;
  readonly size: KillsSize;
  /** How long the victim works at most before it is killed again. */
  readonly longestLifeMs: number;
};

/** What is known of a victim's run when its last kill is over and what was in flight at it has gone on. */
export type KilledRun = {
  readonly party: Party;
  readonly events: number;
  /** How many deliveries had not ended when each kill came. */
  readonly inFlight: readonly number[];
  /** The attempts that were in flight at the kills, of this party and others, each as often as it was. */
  readonly attempts: readonly AttemptName[];
};

/** Many timers, and some attempts that last. */
const SHARES: Shares = { failing: 0.4, slow: 0.1 };
const SHORTEST_LIFE_MS = 50;
/** By then the receiver has read what the victim had sent. */
const SHORTEST_DEATH_MS = 200;
const LONGEST_DEATH_MS = 1_000;
/** Only what never goes on takes that long. */
const GOES_ON = { timeout: SIZE.settleMinutes * 60_000, interval: 100 };

/**
 * Writes events, has them delivered, and kills `victim` at random moments meanwhile. The receiver answers first
 * attempts so slowly that most of the events are in flight until the last kill is over.
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
  // Who comes next may make first attempts in another way.
  await expect.poll(async () => (await countStates(stack, party)).Pending, GOES_ON).toBe(undefined);
  const { core, database, vitess = database, temporal } = stack;
  const parts = [core, database, vitess, temporal, dispatcher];
  expect(parts.every((part) => part.isRunning())).toBe(true);
  await expectRetriesWait(stack);
  const events = size.events + size.kills * size.writtenPerLife;
  return { party, events, inFlight, attempts };
}

/** What was in flight at a kill: leased entries, attempts, and how many requests had arrived when it was over. */
export type Killed = {
  readonly leases: readonly Lease[];
  readonly attempts: readonly AttemptName[];
  readonly requestsBefore: number;
};

/** Kills something, and returns what was in flight. */
export async function killInFlight(stack: CrashStack, victim: Victim): Promise<Killed> {
  const { requests } = stack.receiver;
  // Before, because the victim may be what would be asked.
  const recorded = await listRecorded(stack);
  const leases = await listLeases(stack);
  await victim.kill();
  await wait(randomInt(SHORTEST_DEATH_MS, LONGEST_DEATH_MS));
  return { leases, attempts: inFlightOf(requests, recorded), requestsBefore: requests.length };
}

/** Waits until nothing is left of what was in flight: leases ended or taken over, attempts recorded or made again. */
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
 * Holds that every kill came while deliveries were in flight. At the first one all were, but those
 * that the receiver had answered.
 */
export function expectKilledInFlight({ inFlight }: KilledRun, size: KillsSize): void {
  expect(inFlight).toHaveLength(size.kills);
  expect(inFlight[0]).toBeGreaterThanOrEqual(size.events - size.answeredPerLife);
  expect(Math.min(...inFlight)).toBeGreaterThan(0);
}

/** Only these are kept waiting: a retry that timed out would be made again minutes later. */
function isFirstAttemptOf(party: Party): (request: ReceivedRequest) => boolean {
  return (request) =>
    request.requestLine.includes(party.path) && headerOf(request, "Service-Attempt") === "1";
}
