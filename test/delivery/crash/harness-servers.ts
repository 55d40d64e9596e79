import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { startDatabase } from "../../../dev-stack/src/database.ts";
import { createProgress, type Progress, silentProgress } from "../../../dev-stack/src/progress.ts";
import { startTemporal } from "../../../dev-stack/src/temporal.ts";
import { createServerHost } from "../../harness/server-host.ts";
import { startVitess } from "../../vitess/harness-vitess.ts";

/** A process that tests kill and restart. */
export type Victim = {
  /** Starts the process and waits until it works. */
  start(): Promise<void>;
  /** Kills the process with SIGKILL. Throws if it had already ended. */
  kill(): Promise<void>;
  isRunning(): boolean;
};

/** A server that restarts at the same address. */
export type ServerVictim = Victim & {
  /** A database's URL, or Temporal's host and port. It never changes. */
  address(): string;
};

type Running = {
  readonly address: string;
  /** Undefined for a cluster, whose processes end one by one. */
  readonly ended: Promise<void> | undefined;
  kill(): Promise<void>;
};

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The variables without those that name a server, because these tests kill only servers that they start. */
const {
  DATABASE_URL: _database,
  DATABASE_URL_FILE: _named,
  TEMPORAL_ADDRESS: _temporal,
  ...ENV
} = process.env;

/**
 * Creates a victim that runs a program of this repository. `logFile` receives the output of all its starts. The program
 * logs `readyText` once it works.
 */
export function nodeVictim(
  script: string,
  env: NodeJS.ProcessEnv,
  logFile: string,
  readyText: string,
): Victim {
  let from = 0;
  const host = createServerHost({
    ...{ title: script, env, logFile, args: [] },
    launch: { command: process.execPath, leading: [`${ROOT}${script}`] },
    isReady: async () => (await readFile(logFile)).toString("utf8", from).includes(readyText),
  });
  return {
    ...host,
    async start() {
      from = (await stat(logFile).catch(() => undefined))?.size ?? 0;
      await host.start();
    },
  };
}

/**
 * Creates a victim: a database server with the product's durable settings. `ephemeral` gives its user every right,
 * which Vitess needs, and syncs less, which matters only if the machine dies.
 */
export function databaseVictim(dataDir: string, ephemeral: boolean): ServerVictim {
  return serverVictim(async (progress) => {
    const database = await startDatabase({ env: ENV, dataDir, progress, ephemeral });
    return { ...database, address: database.url };
  });
}

/** Creates a victim: a vtgate and the vttablets of shards in a MySQL. They die together. */
export function vitessVictim(mysqlUrl: string, port: number, shards: number): ServerVictim {
  return serverVictim(async (progress) => {
    const options = { env: ENV, mysqlUrl, prefix: "crash", shards, port, progress };
    const vitess = await startVitess(options);
    return { ...vitess, address: vitess.url };
  });
}

/** Creates a victim: a Temporal with its state in `dataDir`. */
export function temporalVictim(dataDir: string): ServerVictim {
  return serverVictim((progress) => startTemporal({ env: ENV, dataDir, progress }));
}

/** Creates a victim that runs a server. The server restarts at its address. */
export function serverVictim(startServer: (progress: Progress) => Promise<Running>): ServerVictim {
  let running: Running | undefined;
  let address = "";
  return {
    address: () => address,
    isRunning: () => running !== undefined,
    async start() {
      const before = address;
      const server = await startServer(before === "" ? createProgress() : silentProgress);
      running = server;
      address = server.address;
      server.ended?.then(() => {
        if (running === server) running = undefined;
      });
      if (before !== "" && address !== before) throw new Error("a server moved to another address");
    },
    async kill() {
      if (running === undefined) throw new Error("a server ended by itself");
      await running.kill();
      running = undefined;
    },
  };
}
