import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The TypeScript compiler, which Node runs. */
export const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** The folders of the published packages. All have the product's version. */
export const PUBLISHED = ["receiver-kit", "feed", "proto/client"] as const;

/** Builds and packs a published package. Returns the tarball's path. */
export function packPackage(name: (typeof PUBLISHED)[number], folder: string): string {
  // Turns off a user's own ignore-scripts, which would skip the build.
  const scripts = ["--ignore-scripts=false", "--foreground-scripts=false"];
  const args = ["pack", "--json", ...scripts, "--pack-destination", folder];
  const output = execFileSync("npm", args, {
    cwd: join(ROOT, name),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const packed: unknown = JSON.parse(output);
  // npm 12 returns an object by package name, earlier versions an array.
  const [entry] = Object.values(packed as Record<string, { filename: string }>);
  if (entry === undefined) throw new Error(`npm packed nothing in ${name}`);
  return join(folder, entry.filename);
}
