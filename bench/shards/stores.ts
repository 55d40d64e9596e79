import { join } from "node:path";
import mysql from "mysql2/promise";
import { type DataSize, FIRST_LOAD_ACCOUNT_NO, pagedAccounts } from "../data/bench-accounts.ts";
import { insertAccounts, insertActivities } from "../data/seed.ts";
import type { Bench } from "../run/bench.ts";
import { shardServerOptions, startDatabase, startVitessCluster } from "../stack/dev-stack.ts";
import { type CoreStore, openCoreStore } from "../stack/servers.ts";

/** Where a side stores: a MySQL, or a Vitess. */
type Database = {
  /** What the product is given as DATABASE_URL. */
  readonly url: string;
  /** Of each MySQL that has accounts. */
  readonly shardUrls: readonly string[];
  readonly version: string;
  /** Who uses the processor between the product and the disk. */
  readonly pids: Readonly<Record<"vtgate" | "vttablets" | "MySQL", readonly number[]>>;
};
export type ShardedStore = CoreStore & Database;

/** Starts a store of as many shards, or without Vitess at 0, and makes the product's tables and the data in it. */
export async function startShardedStore(
  bench: Bench,
  folder: string,
  shards: number,
  size: DataSize,
): Promise<ShardedStore> {
  const database = await (shards === 0
    ? startPlain(bench, folder)
    : startVitess(bench, folder, shards));
  return bench.progress.step(`Making the data: ${labelOf(shards)}`, async () => {
    const store = { ...(await openCoreStore(database.url)), ...database };
    await makeData(store, size);
    return store;
  });
}

/** Says how many shards a side has. */
export function labelOf(shards: number): string {
  if (shards === 0) return "MySQL without Vitess";
  return shards === 1 ? "1 shard" : `${shards} shards`;
}

/** Starts the MySQL without Vitess, with the same options as those of the shards, its binary log included. */
async function startPlain({ progress, closeLater }: Bench, folder: string): Promise<Database> {
  const { DATABASE_URL: _, ...env } = process.env;
  const database = await startDatabase({
    ...{ env, dataDir: join(folder, "plain"), progress },
    ...{ ephemeral: true, serverOptions: shardServerOptions(1) },
  });
  closeLater(database.stop);
  const { url, version, flavour, pid = 0 } = database;
  if (flavour !== "mysql") {
    throw new Error("Vitess stores in MySQL only: npm run bench:shards has one");
  }
  return { url, shardUrls: [url], version, pids: { vtgate: [], vttablets: [], MySQL: [pid] } };
}

/** Starts a Vitess with some shards for accounts, and one for what finds them. */
async function startVitess(
  { progress, closeLater }: Bench,
  folder: string,
  shards: number,
): Promise<Database> {
  const dataDir = join(folder, `shards-${shards}`);
  const cluster = await startVitessCluster({ env: process.env, dataDir, progress, shards });
  closeLater(cluster.stop);
  const parts = cluster.shards();
  const withAccounts = parts.filter(({ keyspace }) => keyspace === "activity");
  return {
    url: cluster.url,
    shardUrls: withAccounts.map(({ mysql }) => mysql.url),
    version: parts[0]?.mysql.version ?? "",
    pids: {
      vtgate: [cluster.vtgate.pid() ?? 0],
      vttablets: parts.map(({ tablet }) => tablet.pid() ?? 0),
      MySQL: parts.map(({ mysql }) => mysql.pid ?? 0),
    },
  };
}

/**
 * Accounts and keys go the product's way, through a vtgate; the records, which only MySQL itself can make by the
 * hundred thousand, are made in each shard for the accounts that it has.
 */
async function makeData({ url, shardUrls }: Database, size: DataSize): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, charset: "utf8mb4_bin" });
  await insertAccounts(connection, size);
  await connection.end();
  const { count: accounts } = pagedAccounts(size.loadAccounts);
  const set = {
    ...{ firstAccountNo: FIRST_LOAD_ACCOUNT_NO, accounts, isShard: true },
    activitiesPerAccount: size.activitiesPerLoadAccount,
  };
  for (const uri of shardUrls) {
    const shard = await mysql.createConnection({ uri, charset: "utf8mb4_bin" });
    await insertActivities(shard, set, () => undefined);
    await shard.end();
  }
}
