import { PROCESS_TIMING } from "@activity/runtime/timing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runWorker } from "./run-worker.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs a worker whose pollers stop when the test says so. */
function startWorker() {
  const run = Promise.withResolvers<void>();
  const pollers = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const shutdown = vi.fn(() => run.resolve());
  const worker = {
    run: () => run.promise,
    getState: () => (shutdown.mock.calls.length === 0 ? ("RUNNING" as const) : "STOPPING"),
    shutdown,
  };
  return {
    ended: runWorker(worker, stopping.signal, () => pollers.promise, PROCESS_TIMING),
    stop: () => stopping.abort(),
    pollersStop: () => pollers.resolve(),
    shutdown,
  };
}

it("shuts the worker down once its pollers have stopped, and leaves no timer", async () => {
  const { ended, stop, pollersStop, shutdown } = startWorker();
  stop();
  await vi.advanceTimersByTimeAsync(0);
  expect(shutdown).not.toHaveBeenCalled();
  pollersStop();
  await vi.advanceTimersByTimeAsync(0);
  expect(shutdown).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
  await ended;
});
