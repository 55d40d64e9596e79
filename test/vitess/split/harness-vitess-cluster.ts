import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type RunningDatabase, startDatabase } from "../../../dev-stack/src/database.ts";
import { fetchRealMysql } from "../../../dev-stack/src/server-program.ts";
import type { StackOptions } from "../../../dev-stack/src/stack-options.ts";
import type { ServerHost } from "../../harness/server-host.ts";
import { readKeyspaces, SCHEMAS, shardNames } from "../harness-keyspaces.ts";
import { CELL, CELL_ROOT, createVitessHosts } from "./harness-vitess-hosts.ts";

interface StartVitessCluster extends StackOptions {
  /** An empty or missing folder. A cluster always starts empty. */
  dataDir: string;
  /** The shards of a sharded keyspace at the start: 1, 2, 4 and so on up to 256. */
  shards: number;
}

/** A shard's MySQL and its vttablet. */
interface VitessShard {
  keyspace: string;
  name: string;
  mysql: RunningDatabase;
  tablet: ServerHost;
}

/** Vitess as a team runs it, without replicas: each part in its own process, all on loopback. */
export type VitessCluster = Awaited<ReturnType<typeof startVitessCluster>>;

const FIRST_TABLET = 100;

/** Returns a MySQL's options for VReplication: the binary log with rows and GTIDs. Rows are complete by default. */
function shardServerOptions(serverId: number): string[] {
  return [
    "--log-bin=binlog",
    `--server-id=${serverId}`,
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    // Does not sync, because data would be lost only with the machine, and no machine dies in these tests.
    "--sync-binlog=0",
  ];
}

/**
 * Starts etcd, vtctld, a MySQL and a vttablet for each shard, and a vtgate with the product's VSchemas. The shards
 * cannot share a MySQL: at a switch each writes a row with the same key into its `_vt`.
 */
export async function startVitessCluster(options: StartVitessCluster) {
  const { progress } = options;
  const { DATABASE_URL: _given, DATABASE_URL_FILE: _named, ...given } = options.env;
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const env = { ...given, MYSQLD: given.MYSQLD ?? (await fetchRealMysql(options)) };
  const hosts = await createVitessHosts(dataDir, options);
  const { control, url, vtgate } = hosts;
  const shards: VitessShard[] = [];
  let tablets = FIRST_TABLET;

  async function startShard(keyspace: string, name: string): Promise<void> {
    const id = tablets++;
    const alias = `${CELL}-${String(id).padStart(10, "0")}`;
    const mysql = await startDatabase({
      ...{ ...options, env, dataDir: join(dataDir, `mysql-${alias}`) },
      ...{ ephemeral: true, serverOptions: shardServerOptions(id) },
    });
    const tablet = await hosts.createTablet(alias, keyspace, name, mysql.url);
    shards.push({ keyspace, name, mysql, tablet });
    await tablet.start();
    await control("TabletExternallyReparented", alias);
  }

  async function stop(): Promise<void> {
    const running = [vtgate, hosts.vtctld, hosts.etcd].filter((host) => host.isRunning());
    await Promise.allSettled(running.map((host) => host.kill()));
    await Promise.allSettled(shards.map(stopShard));
    await hosts.remove();
  }

  try {
    const keyspaces = await readKeyspaces("", options.shards);
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
    shards: (): readonly VitessShard[] => shards,
    /** Starts shards that divide a keyspace into `count`, beside those that serve. Reshard copies to them. */
    async addShards(keyspace: string, count: number) {
      for (const name of shardNames(count)) await startShard(keyspace, name);
    },
    /** Ends and removes shards that no longer serve. */
    async removeShards(keyspace: string, names: readonly string[]) {
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
