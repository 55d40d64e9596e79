import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { ROOT } from "../architecture/import-rule.ts";

/** A program that runs, and all that it said so far on both streams. */
export type Run = { readonly child: ChildProcess; readonly output: () => string };

/**
 * Starts a file of the project, or of another version of it in `root`, with exactly these variables, PATH, and where
 * Node keeps compiled code.
 */
export function startProgram(
  path: string,
  env: Readonly<Record<string, string>>,
  root = ROOT,
): Run {
  const child = spawn(process.execPath, [join(root, path)], {
    env: { ...baseEnv(), ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  return { child, output: () => output };
}
