import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../architecture/import-rule.ts";

/** Runs a file of `tools` with this process's variables and more. */
export async function runTool(
  tool: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const command = [join(ROOT, "tools", tool), ...args];
  const options = { env: { ...process.env, ...env }, encoding: "utf8" } as const;
  const { status: exitCode, stdout, stderr } = spawnSync(process.execPath, command, options);
  return { exitCode, stdout, stderr };
}
