import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";
import { baseEnv } from "../harness/base-env.ts";

/** A running program. */
export type Run = ReturnType<typeof watch>;

/** How long a program may take to say a text. Six processes that start together on two cores need less. */
const START = { timeout: 90_000, interval: 50 };

export function watch(child: ChildProcess) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const statusAt = (event: string) => once(child, event).then(([code]): number | null => code);
  const ended = statusAt("exit");
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    /** All output so far, of both streams. */
    output: () => output,
    ended,
    /** Resolves with the exit status once all output is read. */
    closed: statusAt("close"),
    /** Resolves with the first line that contains a text. Rejects with all output if the process ends first. */
    untilSaid: (text: string): Promise<string> =>
      vi
        .waitUntil(() => {
          const lines = output.split("\n").slice(0, -1);
          const line = lines.find((one) => one.includes(text));
          if (line === undefined && hasEnded()) throw new Error("it ended");
          return line;
        }, START)
        .catch((cause) => {
          throw new Error(`It never said "${text}", but: ${output}`, { cause });
        }),
    /** Sends a signal. Resolves with the exit status. */
    end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
      child.kill(signal);
      return ended;
    },
  };
}

/**
 * Starts a file of the project, or of another version of it in `root`, with arguments behind its path. The program gets
 * only `env` and `baseEnv()`: PATH and the folder of Node's compile cache.
 */
export function startProgram(command: string, env: NodeJS.ProcessEnv, root = ROOT): Run {
  const [path = "", ...args] = command.split(" ");
  const options = { env: { ...baseEnv(), ...env } };
  return watch(spawn(process.execPath, [join(root, path), ...args], options));
}

/** Starts programs and kills them after the tests of a file or group. */
export const usePrograms = () => useRuns(startProgram);

/** Starts processes and kills them after the tests of a file or group. */
export function useRuns<Args extends unknown[]>(start: (...args: Args) => Run): typeof start {
  const runs: Run[] = [];
  afterAll(() => Promise.all(runs.map((run) => run.end("SIGKILL"))));
  return (...args) => {
    const run = start(...args);
    runs.push(run);
    return run;
  };
}
