import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Activity } from "@activity/proto";
import { expect } from "vitest";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import type { Party } from "../../delivery/crash/harness-writers.ts";
import { followFeed } from "./harness-feed.ts";
import { startWriting, type Written } from "./harness-writing.ts";

/** What is known when the last kill is over and every call was answered. */
export type KilledWriting = Written & {
  /** What a poller saw meanwhile, by account. */
  readonly seen: ReadonlyMap<string, readonly Activity[]>;
  /** How many calls waited for their answer when each kill came. */
  readonly inFlight: readonly number[];
};

const SHORTEST_LIFE = 50;
/** So that a kill does not come with an answer. */
const LONGEST_PAUSE_MS = 50;
const LONGEST_DEATH_MS = 1_000;
/** Only what is never answered takes that long. */
const ANSWERED = { timeout: SIZE.settleMinutes * 60_000, interval: 10 };

/**
 * Has `writers` write and a poller follow each feed, and kills the core and the database in turn at random
 * moments meanwhile. Every life answers some calls.
 */
export async function writeAmidKills(
  stack: CrashStack,
  party: Party,
  writers: number,
): Promise<KilledWriting> {
  const writing = startWriting(stack, party, writers);
  const following = Promise.all(
    party.accountIds.map(
      async (id) => [id, await followFeed(stack, id, () => !writing.isOver())] as const,
    ),
  );
  const inFlight: number[] = [];

  async function kill(): Promise<void> {
    for (let kills = 0; kills < SIZE.writes.kills; kills++) {
      for (const victim of [stack.core, stack.database]) {
        const enough = writing.answered() + randomInt(SHORTEST_LIFE, SIZE.writes.answeredPerLife);
        await expect.poll(writing.answered, ANSWERED).toBeGreaterThanOrEqual(enough);
        await wait(randomInt(LONGEST_PAUSE_MS));
        inFlight.push(writing.inFlight());
        await victim.kill();
        await wait(randomInt(LONGEST_DEATH_MS));
        await victim.start();
      }
    }
  }

  try {
    // A call that is refused ends the writing before it is stopped.
    await Promise.race([kill(), writing.written]);
  } finally {
    writing.stop();
  }
  const written = await writing.written;
  return { ...written, seen: new Map(await following), inFlight };
}
