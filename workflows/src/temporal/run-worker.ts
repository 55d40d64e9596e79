import { type Timing, wait } from "@activity/runtime/timing";
import type { Worker } from "@temporalio/worker";

/**
 * How long a stop waits for the pollers. A start in flight cannot be aborted, and takes up to 28 seconds when Temporal
 * throttles. A retry that the worker takes after this time could outlive the stop, and the receiver would get it twice.
 */
const POLLERS_STOP_WITHIN_MS = 5_000;

/**
 * Runs a worker until `stop` is aborted or it fails. The pollers stop first, so that eager starts find their worker.
 * Resolves when both have ended.
 */
export async function runWorker(
  worker: Pick<Worker, "run" | "getState" | "shutdown">,
  stop: AbortSignal,
  stopPollers: () => Promise<void>,
  timing: Timing,
): Promise<void> {
  const shutDown = async () => {
    const stopped = new AbortController();
    const end = () => stopped.abort();
    // If a poller fails to stop, `runWorker` rejects below, where it awaits the pollers again.
    stopPollers().then(end, end);
    await wait(timing, POLLERS_STOP_WITHIN_MS, stopped.signal);
    if (worker.getState() === "RUNNING") worker.shutdown();
  };
  stop.addEventListener("abort", shutDown, { once: true });
  try {
    const run = worker.run();
    if (stop.aborted) await shutDown();
    await run;
  } finally {
    stop.removeEventListener("abort", shutDown);
    await stopPollers();
  }
}
