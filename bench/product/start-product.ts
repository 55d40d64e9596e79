import { join } from "node:path";
import type { Receiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { PRODUCT_FLAGS } from "../sides/served-process.ts";
import { createClients } from "../stack/dev-stack.ts";
import { startWorker } from "../stack/jobs.ts";
import { type BenchTemporal, type CoreStore, deliveryEnv } from "../stack/servers.ts";
import type { ProductJobs } from "./product-worker.ts";

/** What the product runs on; its log is left in `folder`, a CPU profile of what it delivers in `profileFile`. */
export type ProductGround = {
  readonly store: CoreStore;
  readonly temporal: BenchTemporal;
  readonly receiver: Receiver;
  readonly folder: string;
  readonly profileFile?: string | undefined;
};

/** The whole product in a process of its own, whether it runs or not. */
export type ProductProcess = ReturnType<typeof startProductProcess>;

/** Starts a process in which the whole product can run as `npm start` runs it. */
export function startProductProcess(
  bench: Bench,
  { store, temporal, receiver, folder, profileFile }: ProductGround,
) {
  const file = new URL("./product-worker.ts", import.meta.url);
  const { pid, jobs, stop } = startWorker<ProductJobs>(bench, file, PRODUCT_FLAGS);
  bench.closeLater(jobs.stop);
  const run = async (delivers: boolean, more: Readonly<Record<string, string>> = {}) => {
    const env = { ...store.env, ...deliveryEnv(temporal, receiver), ...more };
    const logFile = join(folder, `product-${pid}.log`);
    const how = { delivers, env, receiverCa: receiver.ca, logFile, profileFile };
    const ports = await jobs.run(how);
    return { ...ports, clients: clientsOf(ports.corePort, store) };
  };
  return {
    pid,
    /** Runs it without deliveries: what is written waits. */
    collect: () => run(false),
    /** Runs it with deliveries; resolves when it begins to claim. */
    deliver: (more?: Readonly<Record<string, string>>) => run(true, more),
    /** Stops it, and leaves the process as it is. */
    rest: jobs.stop,
    async stop() {
      await jobs.stop();
      stop();
    },
  };
}

/** Makes what calls a core on this machine. */
export function clientsOf(port: number, { credential }: Pick<CoreStore, "credential">) {
  return createClients(`http://127.0.0.1:${port}`, credential);
}
