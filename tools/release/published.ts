import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The folders of the packages that are published, each with the product's version. */
export const PUBLISHED = ["receiver-kit", "feed", "proto/client"] as const;

/** Builds a published package and packs it into a folder. Returns the tarball's path. */
export function packPackage(name: (typeof PUBLISHED)[number], folder: string): string {
  const args = ["pack", "--json", "--foreground-scripts=false", "--pack-destination", folder];
  const output = execFileSync("npm", args, {
    cwd: join(ROOT, name),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const packed: unknown = JSON.parse(output);
  // npm 12 names each package, earlier ones count them.
  const [entry] = Object.values(packed as Record<string, { filename: string }>);
  if (entry === undefined) throw new Error(`npm packed nothing in ${name}`);
  return join(folder, entry.filename);
}
