import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { vi } from "vitest";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { ROOT } from "../architecture/import-rule.ts";

/** A program that runs. */
export type Run = {
  readonly child: ChildProcess;
  /** All that it said so far, on both streams. */
  readonly output: () => string;
  /** Resolves once it said a text; rejects with all that it said when it ends before. */
  untilSaid(text: string): Promise<void>;
  /** Resolves with the status that it ends with. */
  readonly ended: Promise<number | null>;
  /** Sends a signal and resolves with the status that it ends with. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** Longer than six processes take that start beside each other on two cores. */
const START = { timeout: 90_000, interval: 50 };

/**
 * Starts a file of the project, or of another version of it in `root`, with exactly these variables, PATH, and where
 * Node keeps compiled code.
 */
export function startProgram(path: string, env: NodeJS.ProcessEnv, root = ROOT): Run {
  return watch(spawn(process.execPath, [join(root, path)], { env: { ...baseEnv(), ...env } }));
}

/** Hears what a program says. */
export function watch(child: ChildProcessWithoutNullStreams): Run {
  const ended: Promise<number | null> = once(child, "exit").then(([code]) => code);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      said += chunk;
    });
  }
  return {
    child,
    output: () => said,
    async untilSaid(text) {
      await vi.waitUntil(() => child.exitCode !== null || said.includes(text), START);
      if (!said.includes(text)) throw new Error(`It never said "${text}", but: ${said}`);
    },
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
