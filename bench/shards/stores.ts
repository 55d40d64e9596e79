import { join } from "node:path";
import { startDatabase } from "../../dev-stack/src/database.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import {
  shardServerOptions,
  startVitessCluster,
} from "../../test/vitess/split/harness-vitess-cluster.ts";
import type { Closing } from "../stack/closing.ts";

/** Who uses the processor between the load and the disk. */
export const ProcessName = {
  Product: "product",
  Vtgate: "vtgate",
  Vttablets: "vttablets",
  Mysql: "MySQL",
} as const;
export type ProcessName = (typeof ProcessName)[keyof typeof ProcessName];

/** Where a side stores: an empty database, or a Vitess. */
export type Store = {
  readonly label: string;
  /** What the product is given as DATABASE_URL. */
  readonly url: string;
  /** Of each MySQL that has accounts. */
  readonly shardUrls: readonly string[];
  readonly version: string;
  readonly pids: Readonly<Record<Exclude<ProcessName, "product">, readonly number[]>>;
};

/** Starts the MySQL without Vitess, with the same options as those of the shards, its binary log included. */
export async function startPlainStore(
  folder: string,
  closing: Closing,
  progress: Progress,
): Promise<Store> {
  const { DATABASE_URL: _, ...env } = process.env;
  const database = await startDatabase({
    ...{ env, dataDir: join(folder, "plain"), progress },
    ...{ ephemeral: true, serverOptions: shardServerOptions(1) },
  });
  closing.add(database.stop);
  if (database.flavour !== "mysql") {
    throw new Error("Vitess stores in MySQL only: npm run bench:shards has one");
  }
  return {
    label: "MySQL without Vitess",
    url: database.url,
    shardUrls: [database.url],
    version: `${database.flavour} ${database.version}`,
    pids: { vtgate: [], vttablets: [], MySQL: [database.pid ?? 0] },
  };
}

/** Starts a Vitess with `shards` shards for accounts, and one for what finds them. */
export async function startShardedStore(
  folder: string,
  shards: number,
  closing: Closing,
  progress: Progress,
): Promise<Store> {
  const { env } = process;
  const dataDir = join(folder, `shards-${shards}`);
  const cluster = await startVitessCluster({ env, dataDir, progress, shards });
  closing.add(cluster.stop);
  const parts = cluster.shards();
  const version = parts[0]?.mysql.version ?? "";
  return {
    label: shards === 1 ? "1 shard" : `${shards} shards`,
    url: cluster.url,
    shardUrls: parts
      .filter(({ keyspace }) => keyspace === "activity")
      .map(({ mysql }) => mysql.url),
    version: `mysql ${version}`,
    pids: {
      vtgate: [cluster.vtgate.pid() ?? 0],
      vttablets: parts.map(({ tablet }) => tablet.pid() ?? 0),
      MySQL: parts.map(({ mysql }) => mysql.pid ?? 0),
    },
  };
}
