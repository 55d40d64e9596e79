import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { byShares } from "./harness-counting.ts";
import { expectNothingLost } from "./harness-kills.ts";
import { SIZE } from "./harness-size.ts";
import { type CrashStack, Script, startCrashStack } from "./harness-stack.ts";
import { countWork } from "./harness-work.ts";
import { createParty, writeDonations } from "./harness-writers.ts";

const MINUTE_MS = 60_000;

let stack: CrashStack;
beforeAll(async () => {
  stack = await startCrashStack();
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

it(
  `two relays and two workers deliver ${SIZE.events} events once without faults`,
  async () => {
    const shares = { failing: SIZE.settlesEach ? 0.1 : 0, slow: 0.1 };
    stack.receiver.behaviour = byShares(shares);
    const party = await createParty(stack);
    const { events } = SIZE;
    await writeDonations(stack, party, events / 2);
    const startedMs = performance.now();
    const four = ["first", "second"].flatMap((name) => [
      stack.deliverer(`${name}-relay`, Script.Relay),
      stack.deliverer(`${name}-worker`, Script.Worker),
    ]);
    await Promise.all(four.map((deliverer) => deliverer.start()));
    await writeDonations(stack, party, events / 2);
    const { sentTwice } = await expectNothingLost(stack, { party, events, shares });
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const { relays, workers } = await countWork(stack);
    process.stderr.write(
      `two relays and two workers: no kills, ${events} events, 0 lost, ${sentTwice} sent twice, all done after ${seconds} s; ` +
        `workflows started by the relays: ${relays.join(" and ")}, run by the workers: ${workers.join(" and ")}\n`,
    );
    expect(sentTwice).toBe(0);
    // A process that did nothing is in no history.
    expect(relays).toHaveLength(2);
    expect(workers).toHaveLength(2);
    expect(four.every((deliverer) => deliverer.isRunning())).toBe(true);
  },
  (SIZE.settleMinutes + 5) * MINUTE_MS,
);
