import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../architecture/import-rule.ts";

/** Copies the project's files into a folder: those that git has or would add. */
export function copyProject(into: string): void {
  const kept = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  for (const file of execFileSync("git", kept, { cwd: ROOT, encoding: "utf8" }).split("\0")) {
    if (file === "") continue;
    mkdirSync(dirname(join(into, file)), { recursive: true });
    cpSync(join(ROOT, file), join(into, file));
  }
}
