import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Activity } from "@activity/proto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectOwnLogsOnly } from "../../delivery/crash/harness-search.ts";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import { type CrashStack, startCrashStack } from "../../delivery/crash/harness-stack.ts";
import { createParty, type Party } from "../../delivery/crash/harness-writers.ts";
import { followFeed, microsOf, readFeed } from "./harness-feed.ts";
import { expectSame, expectTold, expectWritten } from "./harness-outcome.ts";
import { startWriting, type Written } from "./harness-writing.ts";

const MINUTE_MS = 60_000;
const SETTLING_MS = (SIZE.settleMinutes + 1) * MINUTE_MS;
const ACCOUNTS = 5;
const WRITERS = 64;
const { kills: KILLS, answeredPerLife: ANSWERED_PER_LIFE } = SIZE.writes;
const SHORTEST_LIFE = 50;
/** A random pause, so that kills do not coincide with answers. */
const LONGEST_PAUSE_MS = 50;
const LONGEST_DEATH_MS = 1_000;
/** A limit that only an unanswered call reaches. */
const ANSWERED = { timeout: SIZE.settleMinutes * MINUTE_MS, interval: 10 };

const idOf = ({ id }: Activity) => id;

let stack: CrashStack;
let party: Party;
let written: Written;
/** The records that a poller saw, by account. */
let seen: readonly (readonly [accountId: string, activities: readonly Activity[]])[];
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
  `${WRITERS} writers and a poller of each feed continue amid ${KILLS} kills of the core and ${KILLS} of the database`,
  async () => {
    const writing = startWriting(stack, party, WRITERS);
    const following = Promise.all(
      party.accountIds.map(
        async (id) => [id, await followFeed(stack, id, () => !writing.isOver())] as const,
      ),
    );
    /** How many calls were unanswered at each kill. */
    const inFlight: number[] = [];
    const kill = async () => {
      for (let kills = 0; kills < KILLS; kills++) {
        for (const victim of [stack.core, stack.database]) {
          // Every life answers some calls.
          const enough = writing.answered() + randomInt(SHORTEST_LIFE, ANSWERED_PER_LIFE);
          await expect.poll(writing.answered, ANSWERED).toBeGreaterThanOrEqual(enough);
          await wait(randomInt(LONGEST_PAUSE_MS));
          inFlight.push(writing.inFlight());
          await victim.kill();
          await wait(randomInt(LONGEST_DEATH_MS));
          await victim.start();
        }
      }
    };
    // A refused call rejects `written` before the writing is stopped.
    await Promise.race([kill(), writing.written]).finally(writing.stop);
    written = await writing.written;
    seen = await following;
    expect(inFlight).toHaveLength(2 * KILLS);
    expect(Math.min(...inFlight)).toBeGreaterThan(0);
    expect(written.calls.flatMap(({ failures }) => failures).length).toBeGreaterThan(0);
  },
  KILLS * MINUTE_MS + SETTLING_MS,
);

describe("afterwards, of every write that was acknowledged", () => {
  it("§2.1 the record is in the feed exactly once, as it was answered, refunded once", () =>
    expectWritten(stack, written));

  it("§4.4 a poller saw the record once and in order, never behind its cursor, ADR 0008", async () => {
    for (const [accountId, activities] of seen) {
      const feed = await readFeed(stack, accountId);
      expectSame(activities.map(idOf), feed.map(idOf));
      const times = activities.map(({ recordedAt }) => microsOf(recordedAt));
      const notLater = times.filter((time, index) => time <= (times[index - 1] ?? -1n));
      expect(notLater).toEqual([]);
    }
  });

  it(
    "§6.1 the payment and the refund each have one webhook event, and its endpoint was told it",
    () => expectTold(stack, party, written),
    SETTLING_MS,
  );

  it("the core logged no unexpected failure", () => expectOwnLogsOnly(stack));
});
