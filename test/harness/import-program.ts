import { spawn } from "node:child_process";
import { join } from "node:path";
import { baseEnv } from "./base-env.ts";

const PROGRAM = join(import.meta.dirname, "../../import/src/main.ts");

export type ImportOutcome = { readonly exitCode: number | null; readonly output: string };

/** Runs the importer as a person would, in a folder where nothing is stored about a local core. */
export function runImportProgram(
  cwd: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<ImportOutcome> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...baseEnv(), ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (exitCode) => done({ exitCode, output }));
  });
}
