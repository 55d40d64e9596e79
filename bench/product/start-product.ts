import { join } from "node:path";
import { createClients } from "../../tools/demo/demo-account.ts";
import type { Receiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { PRODUCT_ENV, PRODUCT_FLAGS, profileFlags } from "../sides/served-process.ts";
import { startWorker } from "../stack/jobs.ts";
import { type BenchStore, type BenchTemporal, deliveryEnv } from "../stack/servers.ts";
import type { ProductJobs } from "./product-worker.ts";

/** The servers that the product uses. Its log is in the store's folder, a CPU profile in `profileFolder`. */
export type ProductGround = {
  readonly store: BenchStore;
  readonly temporal: BenchTemporal;
  readonly receiver: Receiver;
  readonly profileFolder?: string | undefined;
};

/** Starts a process that can run the whole product as `npm start` does. */
export function startProductProcess(
  bench: Bench,
  { store, temporal, receiver, profileFolder }: ProductGround,
) {
  const file = new URL("./product-worker.ts", import.meta.url);
  const flags = [...PRODUCT_FLAGS, ...profileFlags("product", profileFolder)];
  const { pid, jobs, stop } = startWorker<ProductJobs>(bench, file, flags, PRODUCT_ENV);
  bench.closeLater(jobs.stop);
  const run = async (receiverCa?: string, more: Readonly<Record<string, string>> = {}) => {
    const env = { ...store.env, ...deliveryEnv(temporal, receiver), ...more };
    const ports = await jobs.run(env, join(store.folder, `product-${pid}.log`), receiverCa);
    return { ...ports, clients: clientsOf(ports.corePort, store) };
  };
  return {
    pid,
    /** Runs the product without deliveries, so that written events wait. */
    collect: () => run(),
    /** Runs the product with deliveries. Resolves when it begins to claim. */
    deliver: (more?: Readonly<Record<string, string>>) => run(receiver.ca, more),
    /** Stops the product but keeps the process. */
    rest: jobs.stop,
    async stop() {
      await jobs.stop();
      stop();
    },
  };
}

/** Creates clients of a core on this machine. */
export function clientsOf(port: number, { credential }: Pick<BenchStore, "credential">) {
  return createClients(`http://127.0.0.1:${port}`, credential);
}
