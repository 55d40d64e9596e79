import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "../log.ts";

const PAUSE_AFTER_FAILURE_MS = 1_000;

/** A loop that runs. */
export type Poller = { stop(): Promise<void> };

/** Runs `step` again and again until it is stopped; a step that fails is logged, and followed by a pause. */
export function startPoller(
  name: string,
  step: (signal: AbortSignal) => Promise<void>,
  log: Log,
): Poller {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await step(signal);
      } catch (cause) {
        if (signal.aborted) return;
        log.error(`${name} failed`, { cause });
        await wait(PAUSE_AFTER_FAILURE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
