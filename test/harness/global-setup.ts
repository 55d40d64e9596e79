import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { buildVitess, VITESS_IN_ONE } from "../vitess/harness-vitess.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server that all tests share. Each file or group of tests creates its own database there. */
    databaseUrl: string;
    /** How many shards a test's database has on Vitess; `undefined` without Vitess. */
    shards: number | undefined;
  }
}

/** Starts one database server for all tests. Its folder is removed at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { env } = process;
  const progress = createProgress();
  const { shards } = project.config.provide;
  if (shards !== undefined) await buildVitess(VITESS_IN_ONE, { env, progress });
  const folder = await mkdtemp(join(tmpdir(), "activity-test-"));
  const dataDir = join(folder, "database");
  const database = await startDatabase({ env, dataDir, progress, ephemeral: true });
  if (shards !== undefined && database.flavour !== "mysql") {
    await database.stop();
    throw new Error("Vitess stores in MySQL only: npm run test:all -- vitess has one.");
  }
  const above = shards === undefined ? "" : `, each test behind a Vitess of ${shards} shards`;
  process.stderr.write(`Testing on ${database.flavour} ${database.version}${above}\n`);
  project.provide("databaseUrl", database.url);
  return async () => {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
