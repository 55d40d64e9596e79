import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import { WorkflowClient } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { startDatabase } from "../../tools/stack/database.ts";
import type { Progress } from "../../tools/stack/progress.ts";
import { startTemporal } from "../../tools/stack/temporal.ts";
import { BENCH_CACHE } from "../data/bench-database.ts";
import { startWorker, type Worker } from "../load/jobs.ts";
import { type EngineState, openEngineState } from "./engine/engine-state.ts";
import type { EngineAnswer, EngineJob } from "./engine/engine-worker.ts";
import { type Pids, startWatch, type Watch } from "./measure/usage.ts";
import { createProductControl, type ProductControl } from "./product/product-control.ts";
import type { ProductAnswer, ProductJob } from "./product/product-worker.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** Everything that a run measures, running. */
export type BenchStack = {
  readonly temporalAddress: string;
  /** What the database calls itself. */
  readonly databaseVersion: string;
  readonly pids: Pids;
  readonly receiver: Receiver;
  readonly product: ProductControl;
  /** Empty workflows and sleepers, in a process of their own. */
  readonly engine: Worker<EngineJob, EngineAnswer>;
  readonly engineState: EngineState;
  readonly engineStateFile: string;
  readonly temporal: WorkflowClient;
  readonly watch: Watch;
  stop(): Promise<void>;
};

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Starts a database, a Temporal, a receiver and processes for the product and for the floor. Servers that the
 * environment names are not heeded: nobody's gets this load, and their processes could not be watched.
 */
export async function startBenchStack(
  progress: Progress,
  profileFolder: string | undefined,
): Promise<BenchStack> {
  const folder = join(BENCH_CACHE, "deliver");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...env } = process.env;
  // What is open, to be closed in the opposite order.
  const open: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    // Whatever one of them fails with, the next one is closed too.
    for (const close of open.splice(0).toReversed()) await closeQuietly(close);
  };
  try {
    const database = await startDatabase({ env, dataDir: join(folder, "database"), progress });
    open.push(database.stop);
    const temporalDir = join(folder, "temporal");
    const temporal = await startTemporal({ env, dataDir: temporalDir, progress });
    open.push(temporal.stop);
    const receiver = await startReceiver();
    open.push(receiver.stop);
    await migrate(database.url);
    const permissions = Object.values(Permission);
    const credential = await createServiceCredential(database.url, "bench", permissions);
    const engine = startWorker<EngineJob, EngineAnswer>(fileOf("./engine/engine-worker.ts"));
    open.push(engine.stop);
    const child = startWorker<ProductJob, ProductAnswer>(
      fileOf("./product/product-worker.ts"),
      // As `npm start` has it.
      ["--max-semi-space-size=4"],
    );
    open.push(child.stop);
    const key = randomBytes(32).toString("hex");
    const product = createProductControl(child, credential, {
      env: {
        DATABASE_URL: database.url,
        TEMPORAL_ADDRESS: temporal.address,
        WEBHOOK_ALLOWED_TARGETS: receiver.target,
        CURSOR_KEYS: key,
        SECRET_KEYS: key,
        CORE_PORT: "0",
      },
      receiverCa: receiver.ca,
      logFile: join(folder, "product.log"),
      profileFile: profileFolder && join(profileFolder, "product.cpuprofile"),
    });
    open.push(product.stop);
    const connection = await NativeConnection.connect({ address: temporal.address });
    open.push(() => connection.close());
    const engineStateFile = join(temporalDir, "state.sqlite");
    const engineState = openEngineState(engineStateFile);
    open.push(engineState.close);
    const pids: Pids = {
      product: child.pid,
      "floor's worker": engine.pid,
      Temporal: temporal.pid ?? 0,
      database: database.pid ?? 0,
      "receiver and load": process.pid,
    };
    const watch = startWatch(database.url, pids);
    open.push(watch.close);
    return {
      temporalAddress: temporal.address,
      databaseVersion: `${database.flavour} ${database.version}`,
      pids,
      receiver,
      product,
      engine,
      engineState,
      engineStateFile,
      temporal: new WorkflowClient({ connection }),
      watch,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function closeQuietly(close: () => unknown): Promise<void> {
  try {
    await close();
  } catch {
    // What failed to close has ended already.
  }
}
