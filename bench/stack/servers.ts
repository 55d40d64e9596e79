import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import { startDatabase } from "../../dev-stack/src/database.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { BENCH_CACHE } from "../data/bench-database.ts";
import type { Closing } from "./closing.ts";

/** A database with nothing in it but a service credential, and a folder of the run's own. */
export type BenchCoreStore = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly databasePid: number;
  /** What the database calls itself. */
  readonly databaseVersion: string;
  /** Opens every call of the core. */
  readonly credential: string;
  /** What a core on this database is configured with, as `npm start` does it. */
  readonly coreEnv: Readonly<Record<string, string>>;
};

/** A Temporal of the run's own. */
export type BenchTemporal = {
  readonly address: string;
  readonly pid: number;
  readonly stateFile: string;
};

/**
 * Starts a database of the run's own, to be thrown away with its folder; `serverOptions` are further options of its
 * program. A server that the environment names is not heeded: nobody's gets this load, and its process could not be
 * watched.
 */
export async function startCoreStore(
  name: string,
  closing: Closing,
  progress: Progress,
  serverOptions: readonly string[] = [],
): Promise<BenchCoreStore> {
  const folder = join(BENCH_CACHE, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  closing.add(() => rm(folder, { recursive: true, force: true }));
  const { DATABASE_URL: _, ...env } = process.env;
  const dataDir = join(folder, "database");
  const database = await startDatabase({ env, dataDir, progress, serverOptions });
  closing.add(database.stop);
  await migrate(database.url);
  const permissions = Object.values(Permission);
  const key = randomBytes(32).toString("hex");
  return {
    folder,
    databaseUrl: database.url,
    databasePid: database.pid ?? 0,
    databaseVersion: `${database.flavour} ${database.version}`,
    credential: await createServiceCredential(database.url, "bench", permissions),
    coreEnv: { DATABASE_URL: database.url, CURSOR_KEYS: key, SECRET_KEYS: key },
  };
}

/** Starts a Temporal of the run's own in the run's folder; one that the environment names is not heeded. */
export async function startBenchTemporal(
  { folder }: BenchCoreStore,
  closing: Closing,
  progress: Progress,
): Promise<BenchTemporal> {
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  const dataDir = join(folder, "temporal");
  const temporal = await startTemporal({ env, dataDir, progress });
  closing.add(temporal.stop);
  const stateFile = join(dataDir, "state.sqlite");
  return { address: temporal.address, pid: temporal.pid ?? 0, stateFile };
}
