import { setTimeout as wait } from "node:timers/promises";
import { type Sample, sampleSince, sharedNowMs } from "../measure/sample.ts";
import { type Answer, HttpConnection } from "./http-connection.ts";

/** The number of workers, their rate and duration. */
export type Pace = {
  readonly workers: number;
  /** The turns per second of all workers. Without it, each worker starts its next turn at the end of the last. */
  readonly perSecond?: number | undefined;
  readonly seconds: number;
};

/** Work after a turn. It is not timed. */
export type After = undefined | (() => void | Promise<void>);

/** Runs numbered turns at a pace, each by a numbered worker. Returns their durations. */
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

/** Runs numbered turns at a pace. Each worker has its own HTTP connection. */
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
