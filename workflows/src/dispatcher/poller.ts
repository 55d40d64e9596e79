import type { Log } from "@activity/runtime/log";
import { type Timing, wait } from "@activity/runtime/timing";

const PAUSE_AFTER_FAILURE_MS = 1_000;

/** How a loop's last step ended; `starting` until the first one has. */
export type PollerState = "starting" | "serving" | "unavailable";

/** A loop that runs. */
export type Poller = {
  state(): PollerState;
  /** Begins no further step; the one that runs goes on. */
  drain(): void;
  /** Aborts the step that runs, and resolves when it has ended. */
  stop(): Promise<void>;
};

/** Runs `step` again and again until it is stopped; a step that fails is logged, and followed by a pause. */
export function startPoller(
  name: string,
  step: (signal: AbortSignal) => Promise<void>,
  log: Log,
  timing: Timing,
): Poller {
  const stopping = new AbortController();
  const { signal } = stopping;
  let state: PollerState = "starting";
  let isDraining = false;

  async function run(): Promise<void> {
    while (!signal.aborted && !isDraining) {
      try {
        await step(signal);
        state = "serving";
      } catch (cause) {
        if (signal.aborted) return;
        state = "unavailable";
        log.error(`${name} failed`, { cause });
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
