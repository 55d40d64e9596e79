import { join } from "node:path";
import type { Receiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { PRODUCT_FLAGS } from "../sides/served-process.ts";
import { type Clients, createClients } from "../stack/dev-stack.ts";
import { startWorker } from "../stack/jobs.ts";
import { type BenchTemporal, type CoreStore, deliveryEnv } from "../stack/servers.ts";
import type { ProductJobs } from "./product-worker.ts";

/** The whole product in a process of its own, whether it runs or not. */
export type ProductProcess = {
  readonly pid: number;
  /** Runs it without deliveries: what is written waits. */
  collect(): Promise<RunningProduct>;
  /** Runs it with deliveries; resolves when it begins to claim. */
  deliver(env?: Readonly<Record<string, string>>): Promise<RunningProduct>;
  /** Stops it, and leaves the process as it is. */
  rest(): Promise<void>;
  stop(): Promise<void>;
};

/** Where it listens, and who may write. */
export type RunningProduct = {
  readonly corePort: number;
  readonly gatewayPort: number;
  readonly clients: Clients;
};

/** What the product runs on. */
export type ProductGround = {
  readonly store: CoreStore;
  readonly temporal: BenchTemporal;
  readonly receiver: Receiver;
  /** For its log. */
  readonly folder: string;
  /** Where to leave a CPU profile of what it delivers. */
  readonly profileFile?: string | undefined;
};

/** Starts a process in which the whole product can run as `npm start` runs it. */
export function startProductProcess(
  bench: Bench,
  { store, temporal, receiver, folder, profileFile }: ProductGround,
): ProductProcess {
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
    collect: () => run(false),
    deliver: (more) => run(true, more),
    rest: jobs.stop,
    async stop() {
      await jobs.stop();
      stop();
    },
  };
}

/** Makes what calls a core on this machine. */
export function clientsOf(port: number, { credential }: Pick<CoreStore, "credential">): Clients {
  return createClients(`http://127.0.0.1:${port}`, credential);
}
