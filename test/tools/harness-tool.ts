import { execFile } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../architecture/import-rule.ts";

type Result = { exitCode: number; stdout: string; stderr: string };

/** Runs a file of `tools` with this process's variables and more. */
export function runTool(
  tool: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Result> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    const command = [join(ROOT, "tools", tool), ...args];
    execFile(process.execPath, command, options, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : 1, stdout, stderr });
    });
  });
}
