import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { findRedisServer } from "./find-redis.ts";
import { findFreePort, LOOPBACK } from "./free-port.ts";
import type { Progress } from "./progress.ts";
import { isRedisAnswering } from "./redis-ping.ts";
import { type ServerProcess, spawnServer } from "./server-process.ts";
import { StackError } from "./stack-error.ts";
import type { Launch } from "./unpacked-root.ts";

export interface StartRedis {
  /** `REDIS_SERVER` is read from here, and PATH. */
  env: NodeJS.ProcessEnv;
  cacheDir: string;
  progress: Progress;
}

/** A Redis or Valkey that keeps everything in memory and nothing on the disk. */
export interface RunningRedis {
  url: string;
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts a new, empty server on the same port, ending the old one first. */
  restart(): Promise<void>;
  /** Ends the server and leaves nothing behind. */
  stop(): Promise<void>;
}

const START_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 20;

/** Starts the server `REDIS_SERVER` names, one on the machine, or the distribution's, fetched. */
export async function startRedis({ env, cacheDir, progress }: StartRedis): Promise<RunningRedis> {
  const launch = await findRedisServer(env, cacheDir, progress);
  const folder = await mkdtemp(join(tmpdir(), "personal-activity-redis-"));
  const port = await findFreePort();
  try {
    let server = await serve(launch, env, folder, port);
    return {
      url: `redis://${LOOPBACK}:${port}`,
      kill: () => server.kill(),
      async restart() {
        await server.kill();
        server = await serve(launch, env, folder, port);
      },
      async stop() {
        await server.kill();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function serve(
  { command, leading }: Launch,
  env: NodeJS.ProcessEnv,
  folder: string,
  port: number,
): Promise<ServerProcess> {
  const logFile = join(folder, "redis.log");
  const options = {
    "--bind": LOOPBACK,
    "--port": String(port),
    "--dir": folder,
    "--save": "",
    "--appendonly": "no",
    "--daemonize": "no",
  };
  const args = [...leading, ...Object.entries(options).flat()];
  const server = await spawnServer({ command, args, env, logFile });
  const deadline = performance.now() + START_MILLISECONDS;
  while (!server.hasEnded() && performance.now() < deadline) {
    if (await isRedisAnswering(port)) return server;
    await wait(POLL_MILLISECONDS);
  }
  await server.kill();
  const log = (await readFile(logFile, "utf8")).trim();
  throw new StackError(
    `Redis did not start (${log.split("\n").at(-1) ?? "it gives no reason"}): set REDIS_SERVER to another redis-server or valkey-server.`,
  );
}
