import { setTimeout as wait } from "node:timers/promises";
import { Durations, type Sample } from "../measure/sample.ts";
import { sharedNowMs } from "../measure/shared-clock.ts";

/** How many write, how fast and for how long. */
export type Pace = {
  readonly writers: number;
  /** Writes begun a second; `undefined`: each writer begins its next when its last one is done. */
  readonly perSecond: number | undefined;
  readonly seconds: number;
};

/** Runs numbered writes at a pace, each by one of the writers, which are numbered too. */
export async function runWriters(
  { writers, perSecond, seconds }: Pace,
  write: (turn: number, writer: number) => Promise<void>,
): Promise<Sample> {
  const durations = new Durations();
  const startedMs = sharedNowMs();
  const untilMs = startedMs + seconds * 1000;
  const msBetween = perSecond === undefined ? 0 : 1000 / perSecond;
  let next = 0;
  const work = async (writer: number) => {
    for (;;) {
      const nowMs = sharedNowMs();
      const dueMs = Math.max(nowMs, startedMs + next * msBetween);
      if (dueMs >= untilMs) return;
      const turn = next++;
      if (dueMs > nowMs) await wait(dueMs - nowMs);
      const beganMs = sharedNowMs();
      await write(turn, writer);
      durations.add(sharedNowMs() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)));
  return durations.toSample((sharedNowMs() - startedMs) / 1000);
}
