import { execFileSync } from "node:child_process";

/** Creates an empty project in `folder`, and installs `packages` in it. */
export function installProject(folder: string, packages: readonly string[]): void {
  runQuietly("npm", ["init", "-y"], folder);
  runQuietly("npm", ["install", "--no-audit", "--no-fund", ...packages], folder);
}

/** Runs a program and returns its output. Shows its errors only if it fails. */
export function runQuietly(command: string, args: readonly string[], folder: string): string {
  return execFileSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
}
