import { startDatabase } from "../../../dev-stack/src/database.ts";
import { createProgress, silentProgress } from "../../../dev-stack/src/progress.ts";
import { startTemporal } from "../../../dev-stack/src/temporal.ts";
import { startVitess } from "../../vitess/harness-vitess.ts";
import type { Victim } from "./harness-process.ts";

/** A server that restarts at the same address. */
export type ServerVictim = Victim & {
  /** A database's URL, or Temporal's host and port. It never changes. */
  address(): string;
};

type Running = {
  readonly address: string;
  readonly ended: Promise<void>;
  kill(): Promise<void>;
};

/** These tests kill only servers that they started, so the variables of given servers are removed. */
const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...ENV } = process.env;

/**
 * A database server with the product's durable settings. `ephemeral` gives its user every right, which Vitess needs,
 * and syncs less, which matters only if the machine dies.
 */
export function databaseVictim(
  dataDir: string,
  { ephemeral = false }: { ephemeral?: boolean } = {},
): ServerVictim {
  return serverVictim(async (isFirst) => {
    const progress = isFirst ? createProgress() : silentProgress;
    const options = { env: ENV, dataDir, progress, ephemeral };
    const database = await startDatabase(options);
    return { ...database, address: database.url };
  });
}

/** A vtgate and the vttablets of shards in a MySQL. They die together. */
export function vitessVictim(mysqlUrl: string, port: number, shards: number): ServerVictim {
  return serverVictim(async (isFirst) => {
    const vitess = await startVitess({
      ...{ env: ENV, mysqlUrl, prefix: "crash", shards, port },
      progress: isFirst ? createProgress() : silentProgress,
    });
    return { ...vitess, address: vitess.url };
  });
}

/** The stack's own Temporal. */
export function temporalVictim(dataDir: string): ServerVictim {
  return serverVictim((isFirst) =>
    startTemporal({ env: ENV, dataDir, progress: isFirst ? createProgress() : silentProgress }),
  );
}

/** Makes a victim of a server that restarts at its address. */
function serverVictim(startServer: (isFirst: boolean) => Promise<Running>): ServerVictim {
  let running: Running | undefined;
  let address = "";
  let hasEnded = true;
  return {
    address: () => address,
    isRunning: () => !hasEnded,
    async start() {
      const server = await startServer(address === "");
      const moved = address !== "" && server.address !== address;
      address = server.address;
      running = server;
      hasEnded = false;
      server.ended.then(() => {
        if (running === server) hasEnded = true;
      });
      if (moved) throw new Error("a server came back at another address");
    },
    async kill() {
      if (hasEnded && running !== undefined) throw new Error("a server ended by itself");
      await running?.kill();
      running = undefined;
      hasEnded = true;
    },
  };
}

/** A cluster that replaces a stack's own server. Tests kill its processes one by one. */
export type ClusterVictim<Cluster> = ServerVictim & { cluster(): Cluster };

export function clusterVictim<Cluster extends { address: string; stop(): Promise<void> }>(
  startCluster: () => Promise<Cluster>,
): ClusterVictim<Cluster> {
  let running: Cluster | undefined;
  return {
    cluster() {
      if (running === undefined) throw new Error("the cluster does not run");
      return running;
    },
    address: () => running?.address ?? "",
    isRunning: () => running !== undefined,
    async start() {
      running = await startCluster();
    },
    async kill() {
      await running?.stop();
      running = undefined;
    },
  };
}
