import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import type { Bench } from "../run/bench.ts";
import { startDatabase, startTemporal } from "./dev-stack.ts";

/** Everything the benches keep between runs. */
export const BENCH_CACHE = fileURLToPath(new URL("../../.cache/bench", import.meta.url));

/** What the product runs on a migrated database with. */
export type CoreStore = {
  readonly databaseUrl: string;
  /** Opens every call of the core. */
  readonly credential: string;
  /** What a core is configured with, as `npm start` does it. */
  readonly env: Readonly<Record<string, string>>;
};

/** A database with nothing in it but a service credential, in a folder of the run's own. */
export type BenchStore = CoreStore & {
  readonly folder: string;
  readonly pid: number;
  /** What the database calls itself. */
  readonly version: string;
};

/** A Temporal of the run's own. */
export type BenchTemporal = {
  readonly address: string;
  readonly pid: number;
  /** Where it keeps its synced state. */
  readonly stateFile: string;
};

/** Makes an empty folder of a run's own, which goes when the bench ends. */
export async function makeFolder({ closeLater }: Bench, name: string): Promise<string> {
  const folder = join(BENCH_CACHE, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  closeLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts a database of the run's own; `serverOptions` are further options of its program. A server that the environment
 * names is not heeded: nobody's gets this load, and its process could not be watched.
 */
export async function startStore(
  bench: Bench,
  name: string,
  serverOptions: readonly string[] = [],
): Promise<BenchStore> {
  const folder = await makeFolder(bench, name);
  const { DATABASE_URL: _, ...env } = process.env;
  const { progress } = bench;
  const dataDir = join(folder, "database");
  const database = await startDatabase({ env, dataDir, progress, serverOptions });
  bench.closeLater(database.stop);
  const version = `${database.flavour} ${database.version}`;
  return { ...(await openCoreStore(database.url)), folder, pid: database.pid ?? 0, version };
}

/** Makes the product's tables and a service credential. */
export async function openCoreStore(databaseUrl: string): Promise<CoreStore> {
  await migrate(databaseUrl);
  const permissions = Object.values(Permission);
  const key = randomBytes(32).toString("hex");
  return {
    databaseUrl,
    credential: await createServiceCredential(databaseUrl, "bench", permissions),
    env: { DATABASE_URL: databaseUrl, CURSOR_KEYS: key, SECRET_KEYS: key, CORE_PORT: "0" },
  };
}

/** Starts a Temporal in a folder of the run's; one that the environment names is not heeded. */
export async function startBenchTemporal(bench: Bench, folder: string): Promise<BenchTemporal> {
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  const dataDir = join(folder, "temporal");
  const {
    address,
    pid = 0,
    stop,
  } = await startTemporal({
    ...{ env, dataDir, progress: bench.progress },
  });
  bench.closeLater(stop);
  return { address, pid, stateFile: join(dataDir, "state.sqlite") };
}

/** What the product delivers with, beside what its core needs. */
export function deliveryEnv(temporal: BenchTemporal, receiver: { readonly target: string }) {
  return {
    TEMPORAL_ADDRESS: temporal.address,
    WEBHOOK_ALLOWED_TARGETS: receiver.target,
    ALLOW_UNSAFE_TARGETS: "development",
  };
}
