import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { redactText } from "@activity/runtime/redaction";
import { findFreePort, LOOPBACK } from "./free-port.ts";
import type { Progress } from "./progress.ts";
import { readGreeting } from "./server-greeting.ts";
import { type ServerProcess, type SpawnServer, spawnServer } from "./server-process.ts";
import { StackError } from "./stack-error.ts";
import { type Keyspace, readKeyspaces, SCHEMAS, vitessOptions } from "./vitess-options.ts";
import { giveToUser, placePrograms, vitessUser } from "./vitess-place.ts";
import { buildVitess, VITESS_IN_ONE } from "./vitess-program.ts";

export interface StartVitess {
  env: NodeJS.ProcessEnv;
  /** Where the program is kept once it is built. */
  cacheDir: string;
  progress: Progress;
  /** The MySQL, not MariaDB, that holds the shards, with a user who has every right. */
  mysqlUrl: string;
  /** What the names of the shards' databases begin with; those that are not there are created. */
  prefix: string;
  /** How many shards a sharded keyspace has: 1, 2, 4 and so on up to 256. */
  shards: number;
  /** The port of the vtgate; any free one unless told. */
  port?: number | undefined;
}

/** A vtgate and a primary vttablet for each shard, in one process; what they store is in the MySQL. */
export interface RunningVitess {
  /** Of the vtgate, where any user may come in and no keyspace is chosen. */
  url: string;
  /** Which databases of the MySQL are whose shards. */
  keyspaces: readonly Keyspace[];
  /** Resolves when it has ended, asked or not. */
  ended: Promise<void>;
  /** Ends vtgate and vttablets at once, as a crash would. What is stored stays, as when they are stopped. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const START_SECONDS = 120;
const GRACE_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 25;

/** Builds Vitess where that was not done yet, and starts it with the VSchemas of the product. */
export async function startVitess(options: StartVitess): Promise<RunningVitess> {
  const { env, cacheDir, progress, mysqlUrl, prefix, shards } = options;
  const built = await buildVitess(VITESS_IN_ONE, env, cacheDir, progress);
  const keyspaces = await readKeyspaces(SCHEMAS, prefix, shards);
  const folder = await mkdtemp(join(tmpdir(), "personal-activity-vitess-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const port = options.port ?? (await findFreePort());
    const { program, schemas, userId } = await place(built, folder);
    const args = vitessOptions({ keyspaces, schemas, mysqlUrl, port, startSeconds: START_SECONDS });
    const logFile = join(folder, "vitess.log");
    const own = { ...env, VTDATAROOT: folder };
    const server = await serve({ command: program, args, env: own, logFile, userId }, port);
    const end = (how: () => Promise<void>) => async () => {
      await how();
      // Its threads end one by one, and the last one frees the port.
      await server.ended;
      await remove();
    };
    return {
      url: `mysql://activity@${LOOPBACK}:${port}`,
      keyspaces,
      ended: server.ended,
      kill: end(() => server.kill()),
      stop: end(() => server.stop(GRACE_MILLISECONDS)),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Puts program and VSchemas where the user may read them who runs it. */
async function place(built: string, folder: string) {
  const schemas = join(folder, "schemas");
  await cp(SCHEMAS, schemas, { recursive: true });
  await giveToUser(folder);
  await placePrograms(built, VITESS_IN_ONE, folder);
  return { program: join(folder, "vtcombo"), schemas, userId: vitessUser() };
}

/** It greets once its vttablets serve: `--tablet-types-to-wait`. */
async function serve(spawning: SpawnServer, port: number): Promise<ServerProcess> {
  const server = await spawnServer(spawning);
  const deadline = performance.now() + START_SECONDS * 1000;
  while (!server.hasEnded() && performance.now() < deadline) {
    const greeting = await readGreeting(LOOPBACK, port, deadline - performance.now());
    if (greeting.kind === "server") return server;
    await wait(POLL_MILLISECONDS);
  }
  await server.kill();
  throw new StackError(`Vitess did not start: ${await lastErrorIn(spawning.logFile)}.`);
}

/** Vitess logs a line of JSON for each event, and its usage behind some errors. */
async function lastErrorIn(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, "utf8")).split("\n");
  const last = lines.findLast((line) => line.startsWith("{") && line.includes('"level":"ERROR"'));
  return last === undefined ? "it gives no reason" : redactText(JSON.parse(last).msg).slice(0, 300);
}
