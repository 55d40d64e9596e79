import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FaultPoint } from "./fault-point.ts";
import { byShares, countRequests, type Shares } from "./harness-counting.ts";
import { expectEngineAgrees, listWorkflows } from "./harness-engine.ts";
import { expectNothingLost, requestsOf, untilAllEnded } from "./harness-kills.ts";
import type { Victim } from "./harness-process.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, Script, startCrashStack } from "./harness-stack.ts";
import { countAttempts, countOutbox, countStates, endLeases } from "./harness-states.ts";
import { createParty, type Party, writeDonations } from "./harness-writers.ts";

const MINUTE_MS = 60_000;
const AT_ONCE: Shares = { failing: 0, slow: 0 };

let stack: CrashStack;
let relay: Victim;
let worker: Victim;
beforeAll(async () => {
  stack = await startCrashStack();
  relay = stack.deliverer("relay", Script.Relay);
  worker = stack.deliverer("worker", Script.Worker);
  await worker.start();
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

let party: Party;
let faulty: Victim | undefined;
beforeEach(async () => {
  stack.receiver.behaviour = byShares(AT_ONCE);
  party = await createParty(stack, { accounts: 1 });
});
afterEach(async () => {
  for (const one of [relay, faulty]) if (one?.isRunning()) await one.kill();
  if (!worker.isRunning()) await worker.start();
});

/** Starts a relay that fails once at a point. */
async function startFaultyRelay(point: FaultPoint): Promise<Victim> {
  faulty = stack.deliverer(point, Script.Relay, { FAULT_POINT: point });
  await faulty.start();
  return faulty;
}

const DIES: ReadonlySet<FaultPoint> = new Set([
  FaultPoint.StartedNotMarked,
  FaultPoint.StartUnanswered,
  FaultPoint.MarkedThenKilled,
]);
/** What a relay that died had claimed is still in the outbox, unless it was marked. */
const LEFT_BEHIND: ReadonlySet<FaultPoint> = new Set([
  FaultPoint.StartedNotMarked,
  FaultPoint.StartUnanswered,
]);

/** Lets a faulty relay do what it can, and a sound one the rest. */
async function relayWithFault(point: FaultPoint, events: number): Promise<void> {
  const faulty = await startFaultyRelay(point);
  if (!DIES.has(point)) {
    await expect.poll(() => countOutbox(stack), { timeout: MINUTE_MS }).toBe(0);
    return;
  }
  await expectDeath(faulty);
  const left = await countOutbox(stack);
  if (LEFT_BEHIND.has(point)) expect(left).toBe(events);
  // Not always 0: the relay's lanes may have shared them, and the other one had not marked its own.
  else expect(left).toBeLessThan(events);
  // The next relay need not wait half a minute.
  await endLeases(stack);
  await relay.start();
  await expect.poll(() => countOutbox(stack), { timeout: MINUTE_MS }).toBe(0);
}

const POINTS = Object.values(FaultPoint);

describe.each([1, 5])("a handover of %i that fails halfway", (events) => {
  it.each(POINTS)(
    "at %s is one start, and one POST each",
    async (point) => {
      await writeDonations(stack, party, events);
      await relayWithFault(point, events);
      const { sentTwice } = await expectNothingLost(stack, { party, events, shares: AT_ONCE });
      expect(sentTwice).toBe(0);
      expect(await countAttempts(stack, party)).toBe(events);
    },
    4 * MINUTE_MS,
  );
});

describe("a start that was acknowledged and not marked", () => {
  it(
    "is made again with what was added meanwhile: at most a second POST, and one record",
    async () => {
      const shares = { failing: SIZE.settlesEach ? 0.5 : 0, slow: 0 };
      stack.receiver.behaviour = byShares(shares);
      await worker.kill();
      await writeDonations(stack, party, 10);
      await expectDeath(await startFaultyRelay(FaultPoint.StartedNotMarked));
      expect(await countStates(stack, party)).toEqual({ Waiting: 10 });
      await writeDonations(stack, party, 10);
      await endLeases(stack);
      await relay.start();
      await expect.poll(() => countOutbox(stack), { timeout: MINUTE_MS }).toBe(0);
      // The first ten are in two workflows now, neither of which has begun.
      const running = () => listWorkflows(stack, "ExecutionStatus = 'Running'");
      await expect.poll(async () => (await running()).length).toBeGreaterThanOrEqual(2);
      await worker.start();
      const { sentTwice } = await expectNothingLost(stack, { party, events: 20, shares });
      // The contract lets a receiver see these twice: same event, same bytes.
      expect(sentTwice).toBeLessThanOrEqual(10);
      const posts = requestsOf(stack, party).length;
      expect(await countAttempts(stack, party)).toBe(posts - sentTwice);
    },
    (SIZE.settleMinutes + 4) * MINUTE_MS,
  );

  it(
    "is left to the worker, which does not need the mark",
    async () => {
      // One: of more, the relay's other lane could hold some that it had not started when it died.
      await writeDonations(stack, party, 1);
      await expectDeath(await startFaultyRelay(FaultPoint.StartedNotMarked));
      await untilAllEnded(stack, party);
      expect(await countOutbox(stack)).toBe(1);
      await endLeases(stack);
      await relay.start();
      await expect.poll(() => countOutbox(stack), { timeout: MINUTE_MS }).toBe(0);
      await expectEngineAgrees(stack);
      expect(await countStates(stack, party)).toEqual({ Delivered: 1 });
      const counted = countRequests(requestsOf(stack, party), AT_ONCE);
      expect(counted).toMatchObject({ sentTwice: 0, differing: [] });
    },
    4 * MINUTE_MS,
  );
});

async function expectDeath(faulty: Victim): Promise<void> {
  await expect.poll(() => faulty.isRunning(), { timeout: MINUTE_MS }).toBe(false);
}
