import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "@activity/server";
import type { Bench } from "../run/bench.ts";
import { type RunningDatabase, startDatabase } from "../stack/dev-stack.ts";
import { BENCH_CACHE } from "../stack/servers.ts";
import type { DataSize } from "./bench-accounts.ts";
import { seed } from "./seed.ts";

const SOURCES = ["../../server/src/database/migrations", "."].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/**
 * Starts a database server of the bench's own, with the product's settings, on data that an earlier run
 * left; the data is made anew when the schema or the seed changed. `DATABASE_URL` is not heeded: nobody's
 * database gets these records.
 */
export async function startBenchDatabase(
  { progress, closeLater }: Bench,
  size: DataSize,
): Promise<RunningDatabase & { readonly pid: number }> {
  const dataDir = join(BENCH_CACHE, size.name);
  const mark = `${dataDir}.seeded`;
  const wanted = await fingerprint(size);
  const isSeeded = (await readFile(mark, "utf8").catch(() => "")) === wanted;
  if (!isSeeded)
    for (const path of [dataDir, mark]) await rm(path, { recursive: true, force: true });
  const { DATABASE_URL: _, ...env } = process.env;
  const database = await startDatabase({ env, dataDir, progress });
  closeLater(database.stop);
  if (!isSeeded) {
    await migrate(database.url);
    await progress.step("Making the bench's data, once", (report) =>
      seed(database.url, size, report),
    );
    await writeFile(mark, wanted);
  }
  return { ...database, pid: database.pid ?? 0 };
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
