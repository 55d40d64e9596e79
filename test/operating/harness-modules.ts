import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ROOT } from "../architecture/import-rule.ts";

/** Runs a module's text in a process of its own. Returns its output. */
export async function runModule(text: string): Promise<string> {
  const args = ["--input-type=module", "--eval", text];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return stdout.trim();
}
