import type { Log } from "@activity/runtime/log";
import { type Timing, wait } from "@activity/runtime/timing";
import { createFailureLog } from "../common/failure.ts";

const PAUSE_AFTER_FAILURE_MS = 1_000;

/** How a poller's last step ended. It is `starting` until the first step ends. */
export type PollerState = "starting" | "serving" | "unavailable";

/** A loop that claims. */
export type Poller = {
  state(): PollerState;
  /** Begins no further step. The current one continues, but sends no claim if it has sent none yet. */
  drain(): void;
  /** Aborts the current step. Resolves when it has ended. */
  stop(): Promise<void>;
};

/**
 * Repeats `step` until it is stopped. A failed step is logged, and a pause follows. A step that waits before its claim
 * asks `isDraining` after that wait.
 */
export function startPoller(
  name: string,
  step: (signal: AbortSignal, isDraining: () => boolean) => Promise<void>,
  log: Log,
  timing: Timing,
): Poller {
  const stopping = new AbortController();
  const { signal } = stopping;
  const logFailure = createFailureLog(log, timing.nowMs);
  let state: PollerState = "starting";
  let isDraining = false;

  async function run(): Promise<void> {
    while (!signal.aborted && !isDraining) {
      try {
        await step(signal, () => isDraining);
        state = "serving";
      } catch (cause) {
        if (signal.aborted) return;
        state = "unavailable";
        logFailure(`${name} failed`, cause);
        await wait(timing, PAUSE_AFTER_FAILURE_MS, signal);
      }
    }
  }

  const running = run();
  return {
    state: () => state,
    drain() {
      isDraining = true;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
