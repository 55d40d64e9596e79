import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "@activity/server";
import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import type { DataSize } from "./bench-accounts.ts";
import { seed } from "./seed.ts";

/** Everything the bench keeps between runs. */
export const BENCH_CACHE = fileURLToPath(new URL("../../.cache/bench", import.meta.url));
/** A running database whose process can be watched. */
export type BenchDatabase = RunningDatabase & { readonly pid: number };

const SOURCES = [
  fileURLToPath(new URL("../../server/src/database/migrations", import.meta.url)),
  fileURLToPath(new URL(".", import.meta.url)),
];

/**
 * Starts a database server of the bench's own, with the product's settings, on data that an earlier run
 * left; the data is made anew when the schema or the seed changed. `DATABASE_URL` is not heeded: nobody's
 * database gets these records.
 */
export async function startBenchDatabase(
  size: DataSize,
  progress: Progress,
): Promise<BenchDatabase> {
  const folder = join(BENCH_CACHE, size.name);
  const mark = `${folder}.seeded`;
  const wanted = await fingerprint(size);
  const isSeeded = (await readFile(mark, "utf8").catch(() => "")) === wanted;
  if (!isSeeded)
    await Promise.all([folder, mark].map((path) => rm(path, { recursive: true, force: true })));
  const { DATABASE_URL: _, ...env } = process.env;
  const database = await startDatabase({ env, dataDir: folder, progress });
  const { pid } = database;
  if (pid === undefined) throw new Error("the bench's database has no process of its own");
  if (!isSeeded) {
    await migrate(database.url);
    await progress.step("Making the bench's data, once", (report) =>
      seed(database.url, size, report),
    );
    await writeFile(mark, wanted);
  }
  return { ...database, pid };
}

/** Changes whenever the data should be made anew. */
async function fingerprint(size: DataSize): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([size, process.env.MYSQLD ?? ""]));
  for (const folder of SOURCES) {
    for (const name of (await readdir(folder)).sort()) {
      hash.update(name).update(await readFile(join(folder, name)));
    }
  }
  return hash.digest("hex");
}
