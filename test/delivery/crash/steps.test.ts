import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { headerOf } from "../harness-deliveries.ts";
import { FaultPoint } from "./fault-point.ts";
import {
  type AttemptName,
  inFlightOf,
  listRecorded,
  nameOf,
  requestsOf,
} from "./harness-attempts.ts";
import { killInFlight } from "./harness-kills.ts";
import { expectNothingLost } from "./harness-outcome.ts";
import type { Victim } from "./harness-process.ts";
import { byShares } from "./harness-shares.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, startCrashStack } from "./harness-stack.ts";
import {
  countOutbox,
  countStates,
  endLeases,
  listDeliveries,
  listLeases,
} from "./harness-states.ts";
import { deliveryIdOf, listWorkflows } from "./harness-temporal.ts";
import { createParty, type Party, writeDonations } from "./harness-writers.ts";

const MINUTE_MS = 60_000;
const EVENTS = 5;
const WITHIN = { timeout: MINUTE_MS };

let stack: CrashStack;
let dispatcher: Victim;
beforeAll(async () => {
  stack = await startCrashStack();
  dispatcher = stack.dispatcher("dispatcher");
  stack.receiver.behaviour = byShares({ failing: 1, slow: 0 });
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

let faulty: Victim | undefined;
const parties = new Map<FaultPoint, Party>();
/** In flight when a dispatcher died: on a slow machine also retries of an earlier test's events. */
const mayRepeat: AttemptName[] = [];

/** Writes events whose first attempts fail, and starts a dispatcher that fails at a point, alone. */
async function failAt(point: FaultPoint): Promise<Party> {
  for (const one of [dispatcher, faulty]) {
    if (one?.isRunning()) mayRepeat.push(...(await killInFlight(stack, one)).attempts);
  }
  const party = await createParty(stack, 1);
  await writeDonations(stack, party, EVENTS);
  faulty = stack.dispatcher(point, { FAULT_POINT: point });
  await faulty.start().catch(() => {
    // It is as quick as that: it can die before it says that it runs.
  });
  parties.set(point, party);
  return party;
}

async function untilDead(): Promise<void> {
  await expect.poll(() => faulty?.isRunning(), WITHIN).toBe(false);
  mayRepeat.push(...inFlightOf(stack.receiver.requests, await listRecorded(stack)));
}

/** Has a sound dispatcher do the rest, until Temporal has every run that must be retried. */
async function goOn(): Promise<void> {
  if (!dispatcher.isRunning()) await dispatcher.start();
  await expect.poll(() => countOutbox(stack), WITHIN).toBe(0);
}

describe("a first attempt that was made", () => {
  it(
    "and not recorded, is made again when its lease is over, once",
    async () => {
      const point = FaultPoint.MadeNotRecorded;
      const party = await failAt(point);
      await untilDead();
      expect(await listRecorded(stack)).toEqual(new Set());
      const made = requestsOf(stack, party);
      expect(made.length).toBeGreaterThan(0);
      const leases = await listLeases(stack);
      expect(leases).toHaveLength(EVENTS);
      await goOn();
      const again = requestsOf(stack, party).slice(made.length);
      expect(again.map(nameOf).sort()).toEqual((await firstAttempts(party)).sort());
      for (const request of again) {
        const lease = leases.find(({ event_id: id }) => nameOf(request) === `${id} 1`);
        const laterSeconds = Number(headerOf(request, "Service-Timestamp")) + 1;
        expect(laterSeconds * 1e6).toBeGreaterThan(lease?.leased_until ?? Infinity);
      }
    },
    3 * MINUTE_MS,
  );

  it(
    "and recorded, of which the answer was lost, is not made again",
    async () => {
      const party = await failAt(FaultPoint.RecordAnswerLost);
      await expect.poll(() => countOutbox(stack), WITHIN).toBe(0);
      expect(await countStates(stack, party)).toEqual({ Retrying: EVENTS });
    },
    3 * MINUTE_MS,
  );
});

describe("a run that must be retried", () => {
  it.each([
    FaultPoint.RecordedThenKilled,
    FaultPoint.ClaimedNotBegun,
    FaultPoint.BeginUnanswered,
    FaultPoint.BegunNotCompleted,
    FaultPoint.CompletedThenKilled,
  ])(
    "gets its workflow later: %s",
    async (point) => {
      const party = await failAt(point);
      await untilDead();
      const isCompleted = point === FaultPoint.CompletedThenKilled;
      if (!isCompleted) expect(await countOutbox(stack)).toBeGreaterThan(0);
      const begun = (await listWorkflowsOf(party)).length;
      if (point === FaultPoint.ClaimedNotBegun) expect(begun).toBe(0);
      if (isCompleted || point === FaultPoint.BegunNotCompleted) expect(begun).toBeGreaterThan(0);
      // The next dispatcher need not wait for the leases of the dead one.
      await endLeases(stack);
      await goOn();
    },
    3 * MINUTE_MS,
  );

  it(
    "and has its workflow, of which the core's acknowledgment was lost, gets no other",
    async () => {
      await failAt(FaultPoint.CompletionAnswerLost);
      await expect.poll(() => countOutbox(stack), WITHIN).toBe(0);
    },
    3 * MINUTE_MS,
  );
});

describe("afterwards, each is retried once, in one workflow", () => {
  it.each(Object.values(FaultPoint))(
    "%s",
    async (point) => {
      await goOn();
      const party = parties.get(point);
      if (party === undefined) throw new Error("nothing failed there");
      const expected = { party, events: EVENTS, workflows: "retries", mayRepeat } as const;
      await expectNothingLost(stack, expected);
      const deliveries = await listDeliveries(stack, party);
      expect(deliveries.map(({ attempts }) => attempts)).toEqual(Array(EVENTS).fill(2));
      expect(await listWorkflowsOf(party)).toHaveLength(EVENTS);
    },
    (SIZE.settleMinutes + 1) * MINUTE_MS,
  );
});

async function firstAttempts(party: Party): Promise<AttemptName[]> {
  return (await listDeliveries(stack, party)).map(({ event_id: id }) => `${id} 1`);
}

async function listWorkflowsOf(party: Party) {
  const ids = new Set((await listDeliveries(stack, party)).map(({ id }) => id));
  return (await listWorkflows(stack)).filter((listed) => ids.has(deliveryIdOf(listed)));
}
