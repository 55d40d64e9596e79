import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { type RunningDatabase, startDatabase } from "./database.ts";
import { findEtcd } from "./find-etcd.ts";
import type { Progress } from "./progress.ts";
import { fetchRealMysql } from "./real-mysql.ts";
import type { ServerHost } from "./server-host.ts";
import { CELL, CELL_ROOT, shardServerOptions } from "./vitess-cluster-options.ts";
import { createVitessHosts } from "./vitess-hosts.ts";
import { readKeyspaces, SCHEMAS, shardNames } from "./vitess-options.ts";
import { giveToUser, placePrograms } from "./vitess-place.ts";
import { buildVitess, VITESS_APART } from "./vitess-program.ts";

export interface StartVitessCluster {
  /** `MYSQLD` is read from here, and PATH. */
  env: NodeJS.ProcessEnv;
  /** An empty folder, or one that is not there: a cluster begins anew each time. */
  dataDir: string;
  /** Where built and fetched programs are kept; the user's cache folder unless told. */
  cacheDir?: string | undefined;
  progress: Progress;
  /** How many shards a sharded keyspace has at first: 1, 2, 4 and so on up to 256. */
  shards: number;
}

/** A shard's MySQL and the vttablet beside it. */
export interface VitessShard {
  keyspace: string;
  name: string;
  mysql: RunningDatabase;
  tablet: ServerHost;
}

/** Vitess as a team runs it, without replicas: each part in a process of its own, all on loopback. */
export interface VitessCluster {
  /** Of the vtgate, where any user may come in and no keyspace is chosen. */
  url: string;
  vtgate: ServerHost;
  /** Those that are there now, of all keyspaces. */
  shards(): readonly VitessShard[];
  /** Starts shards that divide a keyspace into `count`, beside those that serve: where Reshard copies to. */
  addShards(keyspace: string, count: number): Promise<void>;
  /** Ends shards that serve nobody any more, and forgets them. */
  removeShards(keyspace: string, names: readonly string[]): Promise<void>;
  /** Runs a command of vtctldclient and returns what it said; fails with what it failed with. */
  control(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

const FIRST_TABLET = 100;

/**
 * Starts etcd, vtctld, a MySQL and a vttablet for each shard, and a vtgate, with the VSchemas of the product. One
 * MySQL for all shards would not do: at a switch each shard writes a row with the same key into its `_vt`.
 */
export async function startVitessCluster(options: StartVitessCluster): Promise<VitessCluster> {
  const { progress, cacheDir = cacheFolder(options.env) } = options;
  const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...given } = options.env;
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const MYSQLD = given.MYSQLD ?? (await fetchRealMysql({ env: given, cacheDir, progress }));
  const env = { ...given, MYSQLD };
  const etcd = await findEtcd(env, cacheDir, progress);
  const built = await buildVitess(VITESS_APART, env, cacheDir, progress);
  const folder = await mkdtemp(join(tmpdir(), "personal-activity-vitess-"));
  await giveToUser(folder);
  await placePrograms(built, VITESS_APART, folder);
  const hosts = await createVitessHosts({ env, folder, dataDir, etcd });
  const { control, url, vtgate } = hosts;
  const shards: VitessShard[] = [];
  let tablets = FIRST_TABLET;

  async function startShard(keyspace: string, name: string): Promise<void> {
    const id = tablets++;
    const alias = `${CELL}-${String(id).padStart(10, "0")}`;
    const mysql = await startDatabase({
      ...{ env, dataDir: join(dataDir, `mysql-${alias}`), cacheDir, progress },
      ...{ ephemeral: true, serverOptions: shardServerOptions(id) },
    });
    const at = { alias, keyspace, shard: name, mysqlUrl: mysql.url };
    const tablet = await hosts.createTablet(at);
    shards.push({ keyspace, name, mysql, tablet });
    await tablet.start();
    await control("TabletExternallyReparented", alias);
  }

  async function stop(): Promise<void> {
    const running = [vtgate, hosts.vtctld, hosts.etcd].filter((host) => host.isRunning());
    await Promise.allSettled(running.map((host) => host.kill()));
    await Promise.allSettled(shards.map(stopShard));
    await rm(folder, { recursive: true, force: true });
  }

  try {
    const keyspaces = await readKeyspaces(SCHEMAS, "", options.shards);
    await progress.step("Starting Vitess, part by part", async () => {
      await hosts.etcd.start();
      await hosts.vtctld.start();
      await control("AddCellInfo", "--root", CELL_ROOT, "--server-address", hosts.topology, CELL);
      for (const { name } of keyspaces) await control("CreateKeyspace", name);
      for (const keyspace of keyspaces) {
        for (const { name } of keyspace.shards) await startShard(keyspace.name, name);
      }
      for (const { name } of keyspaces) {
        const file = join(SCHEMAS, name, "vschema.json");
        await control("ApplyVSchema", "--vschema-file", file, name);
      }
      await vtgate.start();
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ url, vtgate, control, stop },
    shards: () => shards,
    async addShards(keyspace, count) {
      for (const name of shardNames(count)) await startShard(keyspace, name);
    },
    async removeShards(keyspace, names) {
      for (const name of names) {
        const index = shards.findIndex((each) => each.keyspace === keyspace && each.name === name);
        if (index < 0) throw new Error(`${keyspace} has no shard ${name}`);
        for (const shard of shards.splice(index, 1)) await stopShard(shard);
      }
      const paths = names.map((name) => `${keyspace}/${name}`);
      await control("DeleteShards", "--force", "--recursive", ...paths);
    },
  };
}

async function stopShard({ mysql, tablet }: VitessShard): Promise<void> {
  if (tablet.isRunning()) await tablet.kill();
  await mysql.stop();
}
