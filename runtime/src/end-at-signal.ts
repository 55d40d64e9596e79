import { setTimeout as wait } from "node:timers/promises";
import { type Environment, type Problem, readWholeNumber } from "./environment.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** `npm run` passes on what the terminal sends to both: within this time two are one. */
const SAME_SIGNAL_MS = 1_000;
/** What requests and attempts in flight get to end, once nothing new is taken. */
const STOP_WITHIN_MS = 30_000;
/** What is left to a process in which nothing runs any more. */
const EXIT_WITHIN_MS = 1_000;
const MAX_DRAIN_SECONDS = 60;

/** Reads DRAIN_SECONDS, in milliseconds; tells `problem` of a wrong one. */
export function readDrainMs(env: Environment, problem: Problem): number {
  const seconds = readWholeNumber(env, "DRAIN_SECONDS", [0, MAX_DRAIN_SECONDS], problem) ?? 0;
  return seconds * 1_000;
}

/**
 * Ends the process at the first SIGTERM or SIGINT. It calls `drain`, which lowers readiness while
 * all is still served, and waits `drainMs` for load balancers. Then it calls `stop` and exits with
 * status 0. When `stop` takes over thirty seconds, or a second signal comes, it exits at once with
 * status 1. ADR 0043
 */
export function endAtSignal({
  drain,
  drainMs,
  stop,
}: {
  readonly drain: () => void;
  readonly drainMs: number;
  readonly stop: () => Promise<void>;
}): void {
  let endingSince: number | undefined;

  async function end(): Promise<void> {
    if (endingSince !== undefined) {
      if (performance.now() - endingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    endingSince = performance.now();
    drain();
    await wait(drainMs);
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    await stop();
    // A connection to Temporal that is still being tried cannot be taken back, and would hold the process.
    setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
  }

  for (const signal of SIGNALS) process.on(signal, () => void end());
}
