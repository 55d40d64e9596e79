import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectOwnLogsOnly } from "../../delivery/crash/harness-search.ts";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import { type CrashStack, startCrashStack } from "../../delivery/crash/harness-stack.ts";
import { createParty, type Party } from "../../delivery/crash/harness-writers.ts";
import { microsOf, readFeed } from "./harness-feed.ts";
import { type KilledWriting, writeAmidKills } from "./harness-kills.ts";
import { expectSame, expectTold, expectWritten } from "./harness-outcome.ts";

const MINUTE_MS = 60_000;
const SETTLING_MS = (SIZE.settleMinutes + 1) * MINUTE_MS;
const ACCOUNTS = 5;
const WRITERS = 64;
const { kills: KILLS } = SIZE.writes;

let stack: CrashStack;
let party: Party;
let killed: KilledWriting | undefined;
beforeAll(async () => {
  stack = await startCrashStack();
  await stack.dispatcher("dispatcher").start();
  party = await createParty(stack, ACCOUNTS);
}, 5 * MINUTE_MS);
afterEach(({ task }) => {
  if (task.result?.state === "fail") stack.keepFolder();
});
afterAll(() => stack?.stop(), MINUTE_MS);

it(
  `${WRITERS} writers go on amid ${KILLS} kills of the core and ${KILLS} of the database`,
  async () => {
    killed = await writeAmidKills(stack, party, WRITERS);
    const { inFlight, calls } = killed;
    expect(inFlight).toHaveLength(2 * KILLS);
    expect(Math.min(...inFlight)).toBeGreaterThan(0);
    expect(calls.flatMap(({ failures }) => failures).length).toBeGreaterThan(0);
  },
  KILLS * MINUTE_MS + SETTLING_MS,
);

describe("afterwards, of every write that was acknowledged", () => {
  it("§2.1 the record is in the feed exactly once, as it was answered, refunded once", () =>
    expectWritten(stack, outcome()));

  it("§4.4 a poller saw the record once and in order, never behind its cursor, ADR 0008", async () => {
    for (const [accountId, activities] of outcome().seen) {
      const seen = activities.map(({ id }) => id);
      const feed = (await readFeed(stack, accountId)).map(({ id }) => id);
      expectSame(seen, feed);
      const times = activities.map(({ recordedAt }) => microsOf(recordedAt));
      const notLater = times.filter((time, index) => time <= (times[index - 1] ?? -1n));
      expect(notLater).toEqual([]);
    }
  });

  it(
    "§6.1 the payment and the refund each have one webhook event, and its endpoint was told it",
    () => expectTold(stack, party, outcome()),
    SETTLING_MS,
  );

  it("no failure was a surprise to the core", () => expectOwnLogsOnly(stack));
});

function outcome(): KilledWriting {
  if (killed === undefined) throw new Error("the writers did not get through");
  return killed;
}
