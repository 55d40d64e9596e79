import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WebhookEventKind } from "@activity/proto";
import { createClients } from "../../dev-stack/src/demo.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { type ContributionLoad, startContributionLoad } from "../load/start-contributions.ts";
import { startWatch, type Watch } from "../measure/watch.ts";
import { createClosing } from "../stack/closing.ts";
import { type FloorWorker, startFloorWorker } from "../stack/floor/start-floor-worker.ts";
import { type BenchTemporal, startBenchTemporal, startCoreStore } from "../stack/servers.ts";
import { makeTargets } from "../stack/targets.ts";
import type { LayoutOptions } from "./layouts/layout.ts";
import { startOneProcess } from "./layouts/start-layout.ts";
import { type Receiver, startReceiver } from "./receiver/start-receiver.ts";

/** All that a run measures beside the product, running. */
export type WebhooksStack = {
  readonly databasePid: number;
  /** What the database calls itself. */
  readonly databaseVersion: string;
  readonly temporal: BenchTemporal;
  readonly receiver: Receiver;
  readonly load: ContributionLoad;
  readonly floorWorker: FloorWorker;
  readonly watch: Watch;
  readonly layoutOptions: LayoutOptions;
  /** Closes something with the rest, unless it is closed by then. */
  closeLater(close: () => Promise<void>): void;
  stop(): Promise<void>;
};

/** Who is written to: accounts with an endpoint each that receives what begins a subscription. */
export type Accounts = { readonly one: readonly string[]; readonly many: readonly string[] };

/** Starts a database, a Temporal, a receiver, what writes, and the floor's worker. */
export async function startWebhooksStack(progress: Progress): Promise<WebhooksStack> {
  const closing = createClosing();
  try {
    const store = await startCoreStore("webhooks", closing, progress);
    const temporal = await startBenchTemporal(store, closing, progress);
    const receiver = await startReceiver();
    closing.add(receiver.stop);
    const receiverCaFile = join(store.folder, "receiver.pem");
    await writeFile(receiverCaFile, receiver.ca);
    const load = startContributionLoad();
    closing.add(load.stop);
    const floorWorker = startFloorWorker();
    closing.add(floorWorker.stop);
    const watch = startWatch(store.databaseUrl);
    closing.add(watch.close);
    return {
      databasePid: store.databasePid,
      databaseVersion: store.databaseVersion,
      temporal,
      receiver,
      load,
      floorWorker,
      watch,
      layoutOptions: {
        env: {
          ...store.coreEnv,
          TEMPORAL_ADDRESS: temporal.address,
          WEBHOOK_ALLOWED_TARGETS: receiver.target,
          ALLOW_UNSAFE_TARGETS: "development",
        },
        credential: store.credential,
        receiverCa: receiver.ca,
        receiverCaFile,
        logFile: join(store.folder, "product.log"),
      },
      closeLater: closing.add,
      stop: closing.closeAll,
    };
  } catch (error) {
    await closing.closeAll();
    throw error;
  }
}

/** Makes the accounts of a run, through a core that delivers nothing. */
export async function prepareAccounts(
  { layoutOptions, receiver }: WebhooksStack,
  count: number,
): Promise<Accounts> {
  const product = await startOneProcess(layoutOptions, false);
  try {
    const address = `http://127.0.0.1:${product.corePort}`;
    const clients = createClients(address, layoutOptions.credential);
    const make = async (names: readonly string[]) => {
      const kind = WebhookEventKind.SUBSCRIPTION_CREATED;
      const targets = await makeTargets(clients, receiver.target, names, kind);
      return targets.map(({ accountId }) => accountId);
    };
    const names = Array.from({ length: count }, (_, index) => `bench_${index}`);
    return { one: await make(["bench_one"]), many: await make(names) };
  } finally {
    await product.stop();
  }
}
