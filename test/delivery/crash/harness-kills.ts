import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { headerOf } from "../harness-deliveries.ts";
import type { ReceivedRequest } from "../harness-receiver.ts";
import { listRecorded, nameOf } from "./harness-attempts.ts";
import { createGate } from "./harness-gate.ts";
import type { Victim } from "./harness-process.ts";
import { byShares } from "./harness-shares.ts";
import { SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";
import { countInFlight, countStates } from "./harness-states.ts";
import { createParty, type Party, writeDonations } from "./harness-writers.ts";

/** The victim of a run and its load. */
type KillPlan = {
  readonly victim: Victim;
  /** Makes the deliveries. It may be the victim itself. */
  readonly dispatcher: Victim;
  readonly size: (typeof SIZE)["retries" | "all"];
  /** The longest time between a victim's start and its next kill. */
  readonly longestLifeMs: number;
};

/** The facts of a run after the last kill, once no first attempt is left. */
export type KilledRun = {
  readonly party: Party;
  readonly events: number;
  /** How many deliveries had not ended at each kill. */
  readonly inFlight: readonly number[];
  /** The names of the attempts in flight at the kills, of any party, once for each kill. */
  readonly attempts: readonly string[];
};

/** Shares that give many retries and some long attempts. */
const SHARES = { failing: 0.4, slow: 0.1 };
const SHORTEST_LIFE_MS = 50;
/** Long enough for the receiver to read what the victim had sent. */
const SHORTEST_DEATH_MS = 200;
const LONGEST_DEATH_MS = 1_000;
/** A limit that only a stuck delivery reaches. */
const CONTINUED = { timeout: SIZE.settleMinutes * 60_000, interval: 100 };

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
  const attempts: string[] = [];
  for (let kill = 0; kill < size.kills; kill++) {
    writing.push(writeDonations(stack, party, size.writtenPerLife));
    const stopAnswers = gate.answerEvery(longestLifeMs / size.answeredPerLife);
    await wait(randomInt(SHORTEST_LIFE_MS, longestLifeMs));
    stopAnswers();
    inFlight.push(await countInFlight(stack, party));
    attempts.push(...(await killInFlight(stack, victim)));
    await victim.start();
  }
  gate.open();
  await Promise.all(writing);
  // The next run may make first attempts in another way.
  const pending = async () => (await countStates(stack, party)).Pending;
  await expect.poll(pending, CONTINUED).toBe(undefined);
  const { core, database, vitess = database, temporal } = stack;
  const parts = [core, database, vitess, temporal, dispatcher];
  expect(parts.every((part) => part.isRunning())).toBe(true);
  const events = size.events + size.kills * size.writtenPerLife;
  return { party, events, inFlight, attempts };
}

/** Kills a victim. Returns the names of the attempts in flight: the receiver got them, and they are not recorded. */
export async function killInFlight(stack: CrashStack, victim: Victim): Promise<string[]> {
  // Read before the kill, because the victim may be the server that answers this.
  const recorded = await listRecorded(stack);
  await victim.kill();
  await wait(randomInt(SHORTEST_DEATH_MS, LONGEST_DEATH_MS));
  const made = new Set(stack.receiver.requests.map(nameOf));
  return [...made].filter((name) => !recorded.has(name));
}

/** Only first attempts wait. A retry that times out is made again only minutes later. */
function isFirstAttemptOf(party: Party): (request: ReceivedRequest) => boolean {
  return (request) =>
    request.requestLine.includes(party.path) && headerOf(request, "Service-Attempt") === "1";
}
