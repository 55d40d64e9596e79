import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const path = (name: string) => fileURLToPath(new URL(`../../workflows/${name}`, import.meta.url));
const BUILT = path("dist/workflows.js");

/**
 * Bundles the workflows once for all tests. Otherwise each process that delivers bundles them, in two seconds.
 * `test/replay` bundles the sources itself.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Keeps a bundle that somebody built by hand, or that another project of Vitest built.
  if (existsSync(BUILT)) return undefined;
  await promisify(execFile)(process.execPath, [path("src/build.ts")]);
  // Removes the bundle, because it would still be used after its packages are updated.
  return () => rm(BUILT, { force: true });
}
