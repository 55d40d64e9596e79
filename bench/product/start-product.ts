import { join } from "node:path";
import type { Receiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { PRODUCT_FLAGS, profileFlags } from "../sides/served-process.ts";
import { createClients } from "../stack/dev-stack.ts";
import { startWorker } from "../stack/jobs.ts";
import { type BenchStore, type BenchTemporal, deliveryEnv } from "../stack/servers.ts";
import type { ProductJobs } from "./product-worker.ts";

/** What the product runs on; its log is left in the store's folder, and a CPU profile in `profileFolder`. */
export type ProductGround = {
  readonly store: BenchStore;
  readonly temporal: BenchTemporal;
  readonly receiver: Receiver;
  readonly profileFolder?: string | undefined;
};

/** Starts a process in which the whole product can run as `npm start` runs it. */
export function startProductProcess(
  bench: Bench,
  { store, temporal, receiver, profileFolder }: ProductGround,
) {
  const file = new URL("./product-worker.ts", import.meta.url);
  const flags = [...PRODUCT_FLAGS, ...profileFlags("product", profileFolder)];
  const { pid, jobs, stop } = startWorker<ProductJobs>(bench, file, flags);
  bench.closeLater(jobs.stop);
  const run = async (receiverCa?: string, more: Readonly<Record<string, string>> = {}) => {
    const env = { ...store.env, ...deliveryEnv(temporal, receiver), ...more };
    const ports = await jobs.run(env, join(store.folder, `product-${pid}.log`), receiverCa);
    return { ...ports, clients: clientsOf(ports.corePort, store) };
  };
  return {
    pid,
    /** Runs it without deliveries: what is written waits. */
    collect: () => run(),
    /** Runs it with deliveries; resolves when it begins to claim. */
    deliver: (more?: Readonly<Record<string, string>>) => run(receiver.ca, more),
    /** Stops it, and leaves the process as it is. */
    rest: jobs.stop,
    async stop() {
      await jobs.stop();
      stop();
    },
  };
}

/** Makes what calls a core on this machine. */
export function clientsOf(port: number, { credential }: Pick<BenchStore, "credential">) {
  return createClients(`http://127.0.0.1:${port}`, credential);
}
