import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Activity } from "@activity/proto";
import { expect } from "vitest";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import type { Party } from "../../delivery/crash/harness-writers.ts";
import { followFeed } from "./harness-feed.ts";
import { startWriting, type Written } from "./harness-writing.ts";

/** The facts after the last kill, once every call was answered. */
export type KilledWriting = Written & {
  /** What a poller saw, by account. */
  readonly seen: ReadonlyMap<string, readonly Activity[]>;
  /** How many calls were unanswered at each kill. */
  readonly inFlight: readonly number[];
};

const SHORTEST_LIFE = 50;
/** A random pause, so that kills do not coincide with answers. */
const LONGEST_PAUSE_MS = 50;
const LONGEST_DEATH_MS = 1_000;
/** A limit that only an unanswered call reaches. */
const ANSWERED = { timeout: SIZE.settleMinutes * 60_000, interval: 10 };

/**
 * Runs writers and a poller for each feed. Meanwhile kills the core and the database in turn at random moments. Every
 * life answers some calls.
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
    // A refused call rejects `written` before the writing is stopped.
    await Promise.race([kill(), writing.written]);
  } finally {
    writing.stop();
  }
  const written = await writing.written;
  return { ...written, seen: new Map(await following), inFlight };
}
