import { PROCESS_TIMING } from "@activity/runtime/timing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runWorker } from "./run-worker.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs a worker whose pollers stop when the test says so. */
function startWorker({ isStopped = false } = {}) {
  const run = Promise.withResolvers<void>();
  const pollers = Promise.withResolvers<void>();
  const stopping = new AbortController();
  if (isStopped) stopping.abort();
  const stopPollers = vi.fn(() => pollers.promise);
  const shutdown = vi.fn(() => run.resolve());
  const worker = {
    run: () => run.promise,
    getState: () => (shutdown.mock.calls.length === 0 ? ("RUNNING" as const) : "STOPPING"),
    shutdown,
  };
  return {
    ended: runWorker(worker, stopping.signal, stopPollers, PROCESS_TIMING),
    stop: () => stopping.abort(),
    pollersStop: () => pollers.resolve(),
    fail: run.reject,
    ...{ stopPollers, shutdown },
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

it("shuts down a worker that was to stop before it ran", async () => {
  const { ended, pollersStop, shutdown } = startWorker({ isStopped: true });
  pollersStop();
  await vi.advanceTimersByTimeAsync(0);
  expect(shutdown).toHaveBeenCalledOnce();
  await ended;
});

it("stops the pollers of a worker that fails, before it rejects", async () => {
  const { ended, fail, pollersStop, stopPollers } = startWorker();
  const rejected = vi.fn();
  ended.catch(rejected);
  fail(new Error("Temporal is away"));
  await vi.advanceTimersByTimeAsync(0);
  expect(stopPollers).toHaveBeenCalledOnce();
  expect(rejected).not.toHaveBeenCalled();
  pollersStop();
  await expect(ended).rejects.toThrow("Temporal is away");
});
