import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { runWorker } from "./run-worker.ts";

/** Runs a worker whose pollers stop when the test says so. The test's clock stands until `pass` is called. */
function startWorker() {
  const run = Promise.withResolvers<void>();
  const pollers = Promise.withResolvers<void>();
  const timers = new Map<() => void, number>();
  const stopping = new AbortController();
  let shutdowns = 0;
  const worker = {
    run: () => run.promise,
    getState: () => (shutdowns === 0 ? ("RUNNING" as const) : ("STOPPING" as const)),
    shutdown() {
      shutdowns += 1;
      run.resolve();
    },
  };
  const timing = {
    nowMs: () => 0,
    after(milliseconds: number, work: () => void) {
      timers.set(work, milliseconds);
      return () => timers.delete(work);
    },
  };
  return {
    ended: runWorker(worker, stopping.signal, () => pollers.promise, timing),
    stop: () => stopping.abort(),
    pollersStop: () => pollers.resolve(),
    async pass(milliseconds: number) {
      for (const [work, dueMs] of timers) if (dueMs <= milliseconds) work();
      await turn();
    },
    shutdowns: () => shutdowns,
    timers: () => timers.size,
  };
}

it("shuts the worker down once its pollers have stopped, and leaves no timer", async () => {
  const { ended, stop, pollersStop, pass, shutdowns, timers } = startWorker();
  stop();
  await pass(0);
  expect(shutdowns()).toBe(0);
  pollersStop();
  await pass(0);
  expect([shutdowns(), timers()]).toEqual([1, 0]);
  await ended;
});

it("takes no more retries five seconds after a stop, even if a start is still in flight", async () => {
  const { ended, stop, pollersStop, pass, shutdowns } = startWorker();
  stop();
  await pass(5_000);
  expect(shutdowns()).toBe(1);
  pollersStop();
  await ended;
  expect(shutdowns()).toBe(1);
});
