import { join } from "node:path";
import mysql from "mysql2/promise";
import { type DataSize, FIRST_LOAD_ACCOUNT_NO, pagedAccounts } from "../data/bench-accounts.ts";
import { insertAccounts, insertActivities } from "../data/seed.ts";
import type { Bench } from "../run/bench.ts";
import { shardServerOptions, startDatabase, startVitessCluster } from "../stack/dev-stack.ts";
import { openCoreStore } from "../stack/servers.ts";

/** A store, the URL of each MySQL that has accounts, and who uses the processor between the product and the disk. */
export type ShardedStore = Awaited<ReturnType<typeof startShardedStore>>;

/** Says how many shards a side has. */
export function labelOf(shards: number): string {
  if (shards === 0) return "MySQL without Vitess";
  return shards === 1 ? "1 shard" : `${shards} shards`;
}

/** Starts a store of as many shards, or without Vitess at 0, and makes the product's tables and the data in it. */
export async function startShardedStore(
  bench: Bench,
  folder: string,
  shards: number,
  size: DataSize,
) {
  const start = shards === 0 ? startPlain : startVitess;
  const { url, ...database } = await start(bench, join(folder, `shards-${shards}`), shards);
  return bench.progress.step(`Making the data: ${labelOf(shards)}`, async () => {
    const store = { ...(await openCoreStore(url)), ...database };
    const connection = await mysql.createConnection({ uri: url, charset: "utf8mb4_bin" });
    // Accounts and keys go the product's way, through a vtgate.
    await insertAccounts(connection, size);
    await connection.end();
    // The records, which only MySQL itself can make by the hundred thousand, are made in each shard.
    const set = {
      ...{ first: FIRST_LOAD_ACCOUNT_NO, isShard: true },
      accounts: pagedAccounts(size.loadAccounts).count,
      activitiesPerAccount: size.activitiesPerLoadAccount,
    };
    for (const uri of store.shardUrls) {
      const shard = await mysql.createConnection({ uri, charset: "utf8mb4_bin" });
      await insertActivities(shard, set);
      await shard.end();
    }
    return store;
  });
}

/** Starts the MySQL without Vitess, with the same options as those of the shards, its binary log included. */
async function startPlain({ progress, closeLater }: Bench, dataDir: string) {
  const { DATABASE_URL: _, ...env } = process.env;
  const serverOptions = shardServerOptions(1);
  const database = await startDatabase({ env, dataDir, progress, ephemeral: true, serverOptions });
  closeLater(database.stop);
  const { url, version, flavour, pid = 0 } = database;
  if (flavour !== "mysql") throw new Error("Vitess stores in MySQL only: npm run has one");
  return { url, shardUrls: [url], version, pids: { vtgate: [], vttablets: [], MySQL: [pid] } };
}

/** Starts a Vitess with some shards for accounts, and one for what finds them. */
async function startVitess({ progress, closeLater }: Bench, dataDir: string, shards: number) {
  const cluster = await startVitessCluster({ env: process.env, dataDir, progress, shards });
  closeLater(cluster.stop);
  const parts = cluster.shards();
  const withAccounts = parts.filter(({ keyspace }) => keyspace === "activity");
  const pids = {
    vtgate: [cluster.vtgate.pid() ?? 0],
    vttablets: parts.map(({ tablet }) => tablet.pid() ?? 0),
    MySQL: parts.map(({ mysql }) => mysql.pid ?? 0),
  };
  const version = parts[0]?.mysql.version ?? "";
  return { url: cluster.url, shardUrls: withAccounts.map(({ mysql }) => mysql.url), version, pids };
}
