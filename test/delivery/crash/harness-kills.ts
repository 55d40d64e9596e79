import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Activity, MeService } from "@activity/proto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { requiredMicros } from "../../../server/src/common/timestamps.ts";
import { createReader } from "../../harness/builders.ts";
import { clientsOf } from "../../harness/clients.ts";
import { listRecorded, nameOf } from "./harness-attempts.ts";
import { followFeed, readFeed } from "./harness-feed.ts";
import { expectSame, expectTold, expectWritten } from "./harness-outcome.ts";
import { expectNothingTold } from "./harness-search.ts";
import type { Victim } from "./harness-servers.ts";
import { byShares } from "./harness-shares.ts";
import { type CrashStack, SETTLE_MS, startCrashStack } from "./harness-stack.ts";
import { countInFlight } from "./harness-states.ts";
import { createParty, type Party, startWriting, type Written } from "./harness-writers.ts";

/** The kills of one test file, and the load during them. */
type KillPlan = {
  readonly workflows: "retries" | "all";
  readonly accounts: number;
  readonly writers: number;
  /** How often each process is killed. */
  readonly rounds: number;
};

const MINUTE_MS = 60_000;
/** The shares of events that fail first or are answered late, so that retries and attempts in flight meet each kill. */
const SHARES = { failing: 0.3, slow: 0.3 };
/**
 * The number of records that are written without a pause after each kill. The next kill follows after a random number
 * of answered calls.
 */
const RECORDS = 120;
const [FEWEST_ANSWERED, MOST_ANSWERED] = [30, 120];
/** The pause before each further record. Without it the receiver would answer too late on a busy machine. */
const PAUSE_MS = 10_000;
/** The longest pause before a kill. The pause is random, so that kills do not coincide with answers. */
const LONGEST_PAUSE_MS = 50;
/** The time from a kill to the restart. Meanwhile the receiver reads what the victim had sent. */
const [SHORTEST_DEATH_MS, LONGEST_DEATH_MS] = [200, 1_000];
/** The options of polls for answers. Only an unanswered call reaches this time limit. */
const ANSWERED = { timeout: SETTLE_MS, interval: 10 };

const idOf = ({ id }: Activity) => id;

/** Kills each process of the product in turn under load. Then checks records, feeds, events and logs. */
export function describeKills({ workflows, accounts, writers, rounds }: KillPlan): void {
  let stack: CrashStack;
  let party: Party;
  let victims: readonly Victim[];
  let dispatcher: Victim;
  let apiKey: string;
  let written: Written;
  /** The records that the poller of each account saw. */
  let seen: readonly (readonly Activity[])[];
  /**
   * The attempts in flight when the dispatcher was killed. Other kills repeat no attempt, because a dispatcher that
   * lives records its attempts.
   */
  const mayRepeat: string[] = [];

  beforeAll(async () => {
    stack = await startCrashStack();
    stack.receiver.behaviour = byShares(SHARES);
    ({ apiKey } = await createReader({ client: stack.client }));
    // Sends the key to the core, whose log must not show it.
    await clientsOf(stack.coreUrl, apiKey)(MeService).getMe({});
    dispatcher = stack.dispatcher("dispatcher", { DELIVERY_WORKFLOWS: workflows });
    await dispatcher.start();
    party = await createParty(stack, accounts);
    const { core, database, vitess, temporal } = stack;
    victims = [dispatcher, core, database, temporal, ...(vitess ? [vitess] : [])];
  }, 5 * MINUTE_MS);
  afterEach(({ task }) => {
    if (task.result?.state === "fail") stack.keepFolder();
  });
  afterAll(() => stack?.stop(), MINUTE_MS);

  /** Lists the attempts that the receiver got and the core has not recorded. */
  async function listUnrecorded(): Promise<string[]> {
    const recorded = await listRecorded(stack);
    return [...new Set(stack.receiver.requests.map(nameOf))].filter((name) => !recorded.has(name));
  }

  /** Kills a victim. Kills a dispatcher only while attempts are in flight, and notes which of them may be repeated. */
  async function killOnce(victim: Victim): Promise<void> {
    const isDispatcher = victim === dispatcher;
    if (isDispatcher) await expect.poll(listUnrecorded, ANSWERED).not.toEqual([]);
    await victim.kill();
    await wait(randomInt(SHORTEST_DEATH_MS, LONGEST_DEATH_MS));
    // By now the core has recorded everything that it had received from the dispatcher.
    if (isDispatcher) mayRepeat.push(...(await listUnrecorded()));
    await victim.start();
  }

  it(
    `${writers} writers and a poller of each feed continue while each process is killed, ${rounds} times`,
    async () => {
      let left = RECORDS;
      const writing = startWriting(stack, party, writers, async () => {
        left -= 1;
        if (left < 0) await wait(PAUSE_MS);
      });
      const following = Promise.all(
        party.accountIds.map((id) => followFeed(stack, id, () => !writing.isOver())),
      );
      const kill = async () => {
        for (const victim of Array(rounds).fill(victims).flat() as Victim[]) {
          left = RECORDS;
          const enough = writing.answered() + randomInt(FEWEST_ANSWERED, MOST_ANSWERED);
          await expect.poll(writing.answered, ANSWERED).toBeGreaterThanOrEqual(enough);
          await wait(randomInt(LONGEST_PAUSE_MS));
          expect(await countInFlight(stack, party)).toBeGreaterThan(0);
          await expect.poll(writing.inFlight, { interval: 1 }).toBeGreaterThan(0);
          await killOnce(victim);
        }
      };
      // Fails as soon as a call is refused, because `written` then rejects.
      await Promise.race([kill(), writing.written]).finally(writing.stop);
      written = await writing.written;
      seen = await following;
      expect(victims.every((part) => part.isRunning())).toBe(true);
      expect(written.failures).not.toEqual([]);
    },
    rounds * 5 * MINUTE_MS + SETTLE_MS,
  );

  describe("afterwards, of every write that was acknowledged", () => {
    it("§2.1 the record is in the feed exactly once, as it was answered, refunded once", () =>
      expectWritten(stack, written));

    it("§4.4 a poller saw the record once and in order, never behind its cursor, ADR 0008", async () => {
      for (const [place, activities] of seen.entries()) {
        const feed = await readFeed(stack, party.accountIds[place] ?? "");
        expectSame(activities.map(idOf), feed.map(idOf));
        const times = activities.map(({ recordedAt }) => requiredMicros(recordedAt, "time"));
        const notLater = times.filter((time, index) => time <= (times[index - 1] ?? -1));
        expect(notLater).toEqual([]);
      }
    });

    it(
      "§6.1 the payment and the refund each have one webhook event, which was delivered, and only attempts in flight at the death of a dispatcher were repeated",
      () => expectTold(stack, party, written, { workflows, mayRepeat }),
      2 * SETTLE_MS,
    );

    it(
      "no history and no log holds a secret, a payload, a URL or a name",
      () => expectNothingTold(stack, party, [apiKey]),
      5 * MINUTE_MS,
    );
  });
}
