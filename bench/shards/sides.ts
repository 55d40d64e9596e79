import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import mysql from "mysql2/promise";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { FIRST_LOAD_ACCOUNT_NO, pagedAccounts } from "../data/bench-accounts.ts";
import { insertAccounts, insertRecords } from "../data/seed.ts";
import type { Receiver } from "../deliver/receiver.ts";
import { readCpuSeconds } from "../measure/process-usage.ts";
import type { Closing } from "../stack/closing.ts";
import type { ProductAnswer, ProductJob } from "../stack/product/product-worker.ts";
import { startProductWorker } from "../stack/product/start-product-worker.ts";
import type { Settings } from "./settings.ts";
import { ProcessName, type Store } from "./stores.ts";

/** The product on one store. */
export type Side = {
  readonly store: Store;
  /** Opens every call of its core. */
  readonly credential: string;
  /** Runs the product anew, with deliveries or without. */
  run(delivers: boolean): Promise<ProductAnswer>;
  rest(): Promise<void>;
};

/** Processor milliseconds that each of a side's processes used. */
export type Cpu = Readonly<Record<ProcessName, number>>;

export type SideOptions = {
  readonly folder: string;
  readonly temporalAddress: string;
  readonly receiver: Receiver;
};

/** Makes the tables and the data of a store, and starts a process for the product on it. */
export async function startSide(
  store: Store,
  { folder, temporalAddress, receiver }: SideOptions,
  settings: Settings,
  closing: Closing,
  progress: Progress,
): Promise<Side & { measure<Result>(work: () => Promise<Result>): Promise<[Result, Cpu]> }> {
  await progress.step(`Making the data: ${store.label}`, () => makeData(store, settings));
  const permissions = Object.values(Permission);
  const credential = await createServiceCredential(store.url, "bench", permissions);
  const worker = startProductWorker();
  closing.add(worker.stop);
  const key = randomBytes(32).toString("hex");
  const job: Omit<Extract<ProductJob, { do: "run" }>, "delivers"> = {
    do: "run",
    env: {
      DATABASE_URL: store.url,
      CURSOR_KEYS: key,
      SECRET_KEYS: key,
      TEMPORAL_ADDRESS: temporalAddress,
      WEBHOOK_ALLOWED_TARGETS: receiver.target,
      ALLOW_UNSAFE_TARGETS: "development",
      CORE_PORT: "0",
    },
    receiverCa: receiver.ca,
    logFile: join(folder, `${store.label.replaceAll(" ", "-")}.log`),
    profileFile: undefined,
  };
  const pids: Readonly<Record<ProcessName, readonly number[]>> = {
    ...store.pids,
    product: [worker.pid],
  };
  const names = Object.values(ProcessName);
  const read = () => Promise.all(names.map((name) => readCpuSeconds(pids[name])));
  return {
    ...{ store, credential },
    run: (delivers) => worker.run({ ...job, delivers }),
    async rest() {
      await worker.run({ do: "stop" });
    },
    async measure(work) {
      const before = await read();
      const result = await work();
      const after = await read();
      const used = names.map((name, index) => [
        name,
        1_000 * ((after[index] ?? 0) - (before[index] ?? 0)),
      ]);
      return [result, Object.fromEntries(used) as Cpu]; // one for each name
    },
  };
}

/**
 * Accounts and keys go the product's way, through a vtgate; the records, which only MySQL itself can make by the
 * hundred thousand, are made in each shard for the accounts that it has.
 */
async function makeData(store: Store, { size }: Settings): Promise<void> {
  await migrate(store.url);
  const connection = await mysql.createConnection({ uri: store.url, charset: "utf8mb4_bin" });
  await insertAccounts(connection, size).finally(() => connection.end());
  const { count: accounts } = pagedAccounts(size.loadAccounts);
  const set = {
    firstAccountNo: FIRST_LOAD_ACCOUNT_NO,
    accounts,
    recordsPerAccount: size.recordsPerLoadAccount,
    isShard: true,
  };
  for (const uri of store.shardUrls) {
    const shard = await mysql.createConnection({ uri, charset: "utf8mb4_bin" });
    await insertRecords(shard, [set], () => undefined);
    await shard.query("ANALYZE TABLE account, api_key, donation, platform_event, activity");
    await shard.end();
  }
}
