import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const path = (name: string) => fileURLToPath(new URL(`../../workflows/${name}`, import.meta.url));
const BUILT = path("dist/workflows.js");

/**
 * Bundles the workflows once for all that a run starts: each process that delivers takes two seconds for it
 * otherwise. `test/replay` bundles the sources themselves.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Built by hand, or for another project of this run.
  if (existsSync(BUILT)) return undefined;
  await promisify(execFile)(process.execPath, [path("src/build.ts")]);
  // Left behind, it would be taken when the packages that are bundled with it were updated.
  return () => rm(BUILT, { force: true });
}
