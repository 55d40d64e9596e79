import { join } from "node:path";
import { WorkflowClient } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { startWatch, type Watch } from "../measure/watch.ts";
import { createClosing } from "../stack/closing.ts";
import { type FloorWorker, startFloorWorker } from "../stack/floor/start-floor-worker.ts";
import { openTemporalState, type TemporalState } from "../stack/floor/temporal-state.ts";
import { createProductControl, type ProductControl } from "../stack/product/product-control.ts";
import { startProductWorker } from "../stack/product/start-product-worker.ts";
import { startBenchTemporal, startCoreStore } from "../stack/servers.ts";
import type { Pids } from "./measure/usage.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** Everything that a run measures, running. */
export type BenchStack = {
  readonly temporalAddress: string;
  /** What the database calls itself. */
  readonly databaseVersion: string;
  readonly pids: Pids;
  readonly receiver: Receiver;
  readonly product: ProductControl;
  readonly floorWorker: FloorWorker;
  readonly temporalState: TemporalState;
  readonly temporalStateFile: string;
  readonly temporal: WorkflowClient;
  readonly watch: Watch;
  stop(): Promise<void>;
};

/**
 * Starts a database, a Temporal, a receiver and processes for the product and for the floor. `name` is the folder's:
 * two of them can be measured in turn.
 */
export async function startBenchStack(
  progress: Progress,
  name: string,
  profileFolder?: string,
): Promise<BenchStack> {
  const closing = createClosing();
  try {
    const store = await startCoreStore(name, closing, progress);
    const temporal = await startBenchTemporal(store, closing, progress);
    const receiver = await startReceiver();
    closing.add(receiver.stop);
    const floorWorker = startFloorWorker();
    closing.add(floorWorker.stop);
    const child = startProductWorker();
    closing.add(child.stop);
    const product = createProductControl(child, store.credential, {
      env: {
        ...store.coreEnv,
        TEMPORAL_ADDRESS: temporal.address,
        WEBHOOK_ALLOWED_TARGETS: receiver.target,
        ALLOW_UNSAFE_TARGETS: "development",
        CORE_PORT: "0",
      },
      receiverCa: receiver.ca,
      logFile: join(store.folder, "product.log"),
      profileFile: profileFolder && join(profileFolder, "product.cpuprofile"),
    });
    closing.add(product.stop);
    const connection = await NativeConnection.connect({ address: temporal.address });
    closing.add(() => connection.close());
    const temporalState = openTemporalState(temporal.stateFile);
    closing.add(temporalState.close);
    const watch = startWatch(store.databaseUrl);
    closing.add(watch.close);
    return {
      temporalAddress: temporal.address,
      databaseVersion: store.databaseVersion,
      pids: {
        product: child.pid,
        "floor's worker": floorWorker.pid,
        Temporal: temporal.pid,
        database: store.databasePid,
        "receiver and load": process.pid,
      },
      receiver,
      product,
      floorWorker,
      temporalState,
      temporalStateFile: temporal.stateFile,
      temporal: new WorkflowClient({ connection }),
      watch,
      stop: closing.closeAll,
    };
  } catch (error) {
    await closing.closeAll();
    throw error;
  }
}
