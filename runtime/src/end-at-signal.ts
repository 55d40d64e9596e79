import { setTimeout as wait } from "node:timers/promises";
import { type Environment, type Problem, readWholeNumber } from "./environment.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** At Ctrl-C, the terminal and `npm run` both signal this process. Two signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;
/** How long requests and attempts in flight may take to end. */
const STOP_WITHIN_MS = 30_000;
/** How long a stopped process may take to exit by itself. */
const EXIT_WITHIN_MS = 1_000;
const MAX_DRAIN_SECONDS = 60;

/** Reads DRAIN_SECONDS and returns milliseconds. Calls `problem` if it is wrong. */
export function readDrainMs(env: Environment, problem: Problem): number {
  const seconds = readWholeNumber(env, "DRAIN_SECONDS", [0, MAX_DRAIN_SECONDS], problem) ?? 0;
  return seconds * 1_000;
}

/** Exit codes of a shell for a process that a signal ended. */
const exitAtSigint = () => process.exit(130);
const exitAtSigterm = () => process.exit(143);

/**
 * Ends the process at a signal until `endAtSignal` or `atFirstSignal` is called. Without a listener, the system ignores
 * signals to the first process of a container.
 */
export function exitWhileStarting(): void {
  if (process.listeners("SIGTERM").includes(exitAtSigterm)) return;
  process.once("SIGINT", exitAtSigint).once("SIGTERM", exitAtSigterm);
}

/** Calls `end` at the first SIGTERM or SIGINT. Exits with status 1 at a second one. */
export function atFirstSignal(end: () => void): void {
  let endingSince: number | undefined;
  const hear = () => {
    if (endingSince === undefined) {
      endingSince = performance.now();
      end();
    } else if (performance.now() - endingSince > SAME_SIGNAL_MS) process.exit(1);
  };
  process.off("SIGINT", exitAtSigint).off("SIGTERM", exitAtSigterm);
  for (const signal of SIGNALS) process.on(signal, hear);
}

/**
 * Ends the process at the first SIGTERM or SIGINT. First it calls `drain`: `/ready` then fails, but everything is still
 * served. After `drainMs`, when load balancers have reacted, it calls `stop` and exits with status 0. If `stop` takes
 * over thirty seconds, or a second signal comes, it exits at once with status 1. ADR 0043
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
  async function end(): Promise<void> {
    drain();
    await wait(drainMs);
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    await stop();
    // Exits, because a connection to Temporal and its worker cannot be canceled, and would keep the process alive.
    setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
  }

  atFirstSignal(() => void end());
}
