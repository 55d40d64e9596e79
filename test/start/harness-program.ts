import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { ROOT } from "../architecture/import-rule.ts";

/** A program that runs. */
export type Run = ReturnType<typeof watch>;

/** Programs that start beside each other on two cores. */
const SAID_WITHIN_MS = 90_000;

/** Keeps what a process says on both streams. */
export function watch(child: ChildProcess) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const exited = once(child, "exit");
  const closed = once(child, "close").then(([code]): number | null => code);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    /** All that it said so far. */
    output: () => output,
    hasEnded,
    /** Resolves with its status once all that it said is known. */
    closed,
    /** Resolves with the status that it ends with. */
    ended: async (): Promise<number | null> => (hasEnded() ? child.exitCode : (await exited)[0]),
    /** Waits until it has said this, and returns the whole line; rejects with all that it said where it ends before. */
    says: (text: string, withinMs = SAID_WITHIN_MS): Promise<string> =>
      vi
        .waitUntil(
          () => {
            const lines = output.split("\n").slice(0, -1);
            const line = lines.find((one) => one.includes(text));
            if (line === undefined && hasEnded()) throw new Error("it ended");
            return line;
          },
          { timeout: withinMs, interval: 50 },
        )
        .catch((cause) => {
          throw new Error(`it never said "${text}", but: ${output}`, { cause });
        }),
    /** Sends it a signal, and returns the status that it ends with. */
    async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
      if (hasEnded()) return child.exitCode;
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

/**
 * Starts a file of the project, or of another version of it in `root`, with exactly these variables, PATH, and where
 * Node keeps compiled code.
 */
export function startProgram(
  path: string,
  env: Readonly<Record<string, string>>,
  root = ROOT,
): Run {
  return watch(spawn(process.execPath, [join(root, path)], { env: { ...baseEnv(), ...env } }));
}

/** Starts programs, of which none outlives the tests of a file or group. */
export function usePrograms(start: typeof startProgram = startProgram): typeof startProgram {
  const runs: Run[] = [];
  afterAll(() => Promise.all(runs.map((run) => run.end("SIGKILL"))));
  return (...args) => {
    const run = start(...args);
    runs.push(run);
    return run;
  };
}
