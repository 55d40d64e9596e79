import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import type { Bench } from "../run/bench.ts";
import { startDatabase, startTemporal } from "./dev-stack.ts";

/** The folder of everything that the benches keep between runs. */
export const BENCH_CACHE = fileURLToPath(new URL("../../.cache/bench", import.meta.url));

/**
 * A database with the product's tables and a service credential, in the run's own folder. `credential` permits every
 * call. `env` has the variables of a core, as in `npm start`.
 */
export type BenchStore = Awaited<ReturnType<typeof startStore>>;
/** The run's own Temporal and the file of its synced state. */
export type BenchTemporal = Awaited<ReturnType<typeof startBenchTemporal>>;

/** Creates an empty folder for CPU profiles, and keeps it. A browser's developer tools show the profiles. */
export async function makeProfiles(name: string): Promise<string> {
  const folder = await emptyFolder(join("profiles", name));
  process.stderr.write(`Profiles will be in ${folder}\n`);
  return folder;
}

/**
 * Starts the run's own database. It ignores a server from the environment: that server must not get this load, and
 * its process could not be measured.
 */
export async function startStore({ closeLater, progress }: Bench, name: string) {
  const folder = await emptyFolder(name);
  closeLater(() => rm(folder, { recursive: true, force: true }));
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...env } = process.env;
  const database = await startDatabase({ env, dataDir: join(folder, "database"), progress });
  const { url, pid = 0, flavour, stop } = database;
  closeLater(stop);
  await migrate(url);
  const key = randomBytes(32).toString("hex");
  return {
    ...{ folder, pid, version: `${flavour} ${database.version}`, databaseUrl: url },
    credential: await createServiceCredential(url, "bench", Object.values(Permission)),
    env: { DATABASE_URL: url, CURSOR_KEYS: key, SECRET_KEYS: key, CORE_PORT: "0" },
  };
}

/** Starts a Temporal in the run's folder. It ignores one from the environment. */
export async function startBenchTemporal({ progress, closeLater }: Bench, folder: string) {
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  const dataDir = join(folder, "temporal");
  const { address, pid = 0, stop } = await startTemporal({ env, dataDir, progress });
  closeLater(stop);
  return { address, pid, stateFile: join(dataDir, "state.sqlite") };
}

/** Returns the variables of deliveries, in addition to the core's. */
export function deliveryEnv(
  temporal: BenchTemporal,
  { target, hanging }: { readonly target: string; readonly hanging: string },
) {
  return {
    TEMPORAL_ADDRESS: temporal.address,
    WEBHOOK_ALLOWED_TARGETS: `${target},${hanging}`,
    ALLOW_UNSAFE_TARGETS: "development",
  };
}

async function emptyFolder(name: string): Promise<string> {
  const folder = join(BENCH_CACHE, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}
