import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startDatabase } from "../../tools/stack/database.ts";
import { createProgress } from "../../tools/stack/progress.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server all tests share; each makes a database of its own in it. */
    databaseUrl: string;
  }
}

/** Starts one database server for the whole run, in a folder that goes away with it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "activity-test-"));
  const database = await startDatabase({
    env: process.env,
    dataDir: join(folder, "database"),
    progress: createProgress(),
    ephemeral: true,
  });
  process.stderr.write(`Testing on ${database.flavour} ${database.version}\n`);
  project.provide("databaseUrl", database.url);
  return async () => {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
