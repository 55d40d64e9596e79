import { setTimeout as wait } from "node:timers/promises";
import { type Sample, sampleSince, sharedNowMs } from "../measure/sample.ts";
import { type Answer, HttpConnection } from "./http-connection.ts";

/** How many work at the same time, how fast and for how long. */
export type Pace = {
  readonly workers: number;
  /** Turns begun a second; absent: each worker begins its next when its last one is done. */
  readonly perSecond?: number | undefined;
  readonly seconds: number;
};

/** What is done after a turn and is not part of it. */
export type After = undefined | (() => void | Promise<void>);

/** Runs numbered turns at a pace, each by one of the workers, which are numbered too; returns what they took. */
export async function keepBusy(
  { workers, perSecond = Infinity, seconds }: Pace,
  takeTurn: (turn: number, worker: number) => Promise<After>,
): Promise<Sample> {
  const durationsMs: number[] = [];
  const startedMs = sharedNowMs();
  let next = 0;
  const work = async (worker: number) => {
    for (;;) {
      const nowMs = sharedNowMs();
      const dueMs = Math.max(nowMs, startedMs + (1000 * next) / perSecond);
      if (dueMs >= startedMs + 1000 * seconds) return;
      const turn = next++;
      if (dueMs > nowMs) await wait(dueMs - nowMs);
      const beganMs = sharedNowMs();
      const after = await takeTurn(turn, worker);
      durationsMs.push(sharedNowMs() - beganMs);
      await after?.();
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return sampleSince(startedMs, durationsMs);
}

/** Runs numbered turns at a pace, each worker on an HTTP connection of its own. */
export async function keepConnectionsBusy(
  port: number,
  pace: Pace,
  takeTurn: (send: (request: Buffer) => Promise<Answer>, turn: number) => Promise<After>,
): Promise<Sample> {
  const connections = Array.from({ length: pace.workers }, () => new HttpConnection(port));
  const take = (turn: number, worker: number) => {
    const connection = connections[worker] ?? new HttpConnection(port);
    return takeTurn((request) => connection.send(request), turn);
  };
  return keepBusy(pace, take).finally(() => {
    for (const connection of connections) connection.close();
  });
}
