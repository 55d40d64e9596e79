import { join } from "node:path";
import { WebhookEventKind } from "@activity/proto";
import { WorkflowClient } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import type { Clients } from "../../dev-stack/src/demo.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../../test/harness/database-proxy.ts";
import { type Receiver, startReceiver } from "../deliver/receiver.ts";
import { startWatch, type Watch } from "../measure/watch.ts";
import { createClosing } from "../stack/closing.ts";
import { createProductControl } from "../stack/product/product-control.ts";
import { startProductWorker } from "../stack/product/start-product-worker.ts";
import { type BenchCoreStore, startBenchTemporal, startCoreStore } from "../stack/servers.ts";
import { makeTargets } from "../stack/targets.ts";
import { BINARY_LOG } from "./counters.ts";

/** All that a run measures, running. */
export type CostStack = {
  readonly store: BenchCoreStore;
  /** The product's only way to the database. */
  readonly proxy: DatabaseProxy;
  readonly watch: Watch;
  readonly receiver: Receiver;
  readonly temporal: WorkflowClient;
  readonly clients: Clients;
  readonly accountIds: readonly string[];
  stop(): Promise<void>;
};

/** Starts a database that keeps a binary log, a Temporal, a receiver and the product, and makes the accounts. */
export async function startCostStack(accounts: number, progress: Progress): Promise<CostStack> {
  const closing = createClosing();
  try {
    // As Vitess and replicas need it. Nothing is timed here, so the log need not be synced.
    const log = [
      `--log-bin=${BINARY_LOG}`,
      "--binlog-format=ROW",
      "--server-id=1",
      "--sync-binlog=0",
    ];
    const store = await startCoreStore("cost", closing, progress, log);
    const temporalServer = await startBenchTemporal(store, closing, progress);
    const receiver = await startReceiver();
    closing.add(receiver.stop);
    const proxy = await openDatabaseProxy(store.databaseUrl);
    closing.add(proxy.close);
    const worker = startProductWorker();
    closing.add(worker.stop);
    const product = createProductControl(worker, store.credential, {
      env: {
        ...store.coreEnv,
        DATABASE_URL: proxy.url,
        TEMPORAL_ADDRESS: temporalServer.address,
        WEBHOOK_ALLOWED_TARGETS: receiver.target,
        ALLOW_UNSAFE_TARGETS: "development",
        CORE_PORT: "0",
      },
      receiverCa: receiver.ca,
      logFile: join(store.folder, "product.log"),
      profileFile: undefined,
    });
    closing.add(product.stop);
    const connection = await NativeConnection.connect({ address: temporalServer.address });
    closing.add(() => connection.close());
    const watch = startWatch(store.databaseUrl);
    closing.add(watch.close);
    const clients = await product.deliver();
    const names = Array.from({ length: accounts }, (_, index) => `bench_${index}`);
    const kind = WebhookEventKind.DONATION_CREATED;
    const targets = await makeTargets(clients, receiver.target, names, kind);
    return {
      ...{ store, proxy, watch, receiver, clients },
      temporal: new WorkflowClient({ connection }),
      accountIds: targets.map(({ accountId }) => accountId),
      stop: closing.closeAll,
    };
  } catch (error) {
    await closing.closeAll();
    throw error;
  }
}
