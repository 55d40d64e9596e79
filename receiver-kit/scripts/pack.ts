import { execFileSync } from "node:child_process";
import path from "node:path";

const packageFolder = path.resolve(import.meta.dirname, "..");

/** Builds the package and packs it into `folder`. Returns the tarball's path. */
export function pack(folder: string): string {
  runQuietly("npm", ["run", "build"], packageFolder);
  const output = runQuietly(
    "npm",
    ["pack", "--ignore-scripts", "--json", "--pack-destination", folder],
    packageFolder,
  );
  const packed: unknown = JSON.parse(output);
  const [entry] = Object.values(packed as Record<string, { filename: string }>);
  if (!entry) throw new Error("npm pack named no file");
  return path.join(folder, entry.filename);
}

/** Creates an empty project with `packages` installed in `folder`. */
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
