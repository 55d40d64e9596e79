import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { inFlightOf, listRecorded, requestsOf } from "./harness-attempts.ts";
import { createGate } from "./harness-gate.ts";
import { expectNothingLost } from "./harness-outcome.ts";
import { byShares } from "./harness-shares.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, startCrashStack } from "./harness-stack.ts";
import { countStates, countStillLeased, listLeases } from "./harness-states.ts";
import { createParty, writeDonations } from "./harness-writers.ts";

const MINUTE_MS = 60_000;
const ACCOUNTS = 4;
/** A claim of a dispatcher that stopped waits in the core for five seconds, and may be given entries until then. */
const CLAIM_ENDS_MS = 6_000;

let stack: CrashStack;
beforeAll(async () => {
  stack = await startCrashStack();
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

it(
  "of two dispatchers, one makes what the other had leased when it was paused; no more than that is made again",
  async () => {
    const party = await createParty(stack, ACCOUNTS);
    const gate = createGate(byShares({ failing: 0, slow: 0.1 }), () => true);
    stack.receiver.behaviour = gate.behaviour;
    const paused = stack.dispatcher("paused");
    const other = stack.dispatcher("other");
    const third = Math.floor(SIZE.events / 3);

    await writeDonations(stack, party, third);
    await paused.start();
    await expect.poll(() => requestsOf(stack, party).length).toBeGreaterThan(ACCOUNTS);
    paused.pause();
    await writeDonations(stack, party, third);
    await wait(CLAIM_ENDS_MS);
    const leases = await listLeases(stack);
    const requested = inFlightOf(requestsOf(stack, party), await listRecorded(stack));
    await other.start();
    gate.open();
    // Longer than the lease: the other one has taken all of it over.
    await expect.poll(() => countStillLeased(stack, leases), { timeout: MINUTE_MS }).toBe(0);
    const untilAttempted = () =>
      expect
        .poll(async () => (await countStates(stack, party)).Pending, { timeout: MINUTE_MS })
        .toBe(undefined);
    await untilAttempted();

    paused.resume();
    await writeDonations(stack, party, third);
    await untilAttempted();
    const duplicates = await expectNothingLost(stack, {
      ...{ party, events: 3 * third, workflows: "retries" },
      mayRepeat: leases.map(({ event_id: id }) => `${id} 1`),
    });
    expect([paused, other].every((dispatcher) => dispatcher.isRunning())).toBe(true);
    process.stderr.write(
      `two dispatchers, one paused: ${3 * third} events, 0 lost; ${duplicates} attempts made again of ` +
        `${leases.length} leased to it, ${requested.length} of them at the receiver\n`,
    );
  },
  (SIZE.settleMinutes + 3) * MINUTE_MS,
);
