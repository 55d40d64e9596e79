import { spawn } from "node:child_process";
import { join } from "node:path";
import { watch } from "../start/harness-program.ts";
import { baseEnv } from "./base-env.ts";

const PROGRAM = join(import.meta.dirname, "../../import/src/main.ts");

/** Runs the importer as a person would, in a folder where nothing is stored about a local core. */
export async function runImportProgram(
  cwd: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
) {
  const options = { cwd, env: { ...baseEnv(), ...env } };
  const { closed, output } = watch(spawn(process.execPath, [PROGRAM, ...args], options));
  return { exitCode: await closed, output: output() };
}
