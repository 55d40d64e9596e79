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
  /** The port to listen on; any free one unless told. */
  port?: number | undefined;
  /** Further options of the server, with their dashes. */
  serverOptions?: Readonly<Record<string, string>>;
}

/** A Redis or Valkey that keeps everything in memory and nothing on the disk. */
export interface RunningRedis {
  url: string;
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts a new server on the same port, empty but still a member of its cluster, ending the old one first. */
  restart(): Promise<void>;
  /** Ends the server and leaves nothing behind. */
  stop(): Promise<void>;
}

const START_MILLISECONDS = 10_000;
const POLL_MILLISECONDS = 20;

/** Starts the server `REDIS_SERVER` names, one on the machine, or the distribution's, fetched. */
export async function startRedis(options: StartRedis): Promise<RunningRedis> {
  const { env, cacheDir, progress, serverOptions = {} } = options;
  const launch = await findRedisServer(env, cacheDir, progress);
  const folder = await mkdtemp(join(tmpdir(), "personal-activity-redis-"));
  const port = options.port ?? (await findFreePort());
  try {
    const start = () => serve(launch, env, folder, { "--port": String(port), ...serverOptions });
    let server = await start();
    return {
      url: `redis://${LOOPBACK}:${port}`,
      kill: () => server.kill(),
      async restart() {
        await server.kill();
        server = await start();
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
  further: Readonly<Record<"--port", string>>,
): Promise<ServerProcess> {
  const logFile = join(folder, "redis.log");
  const options = {
    "--bind": LOOPBACK,
    "--dir": folder,
    "--save": "",
    "--appendonly": "no",
    "--daemonize": "no",
    ...further,
  };
  const args = [...leading, ...Object.entries(options).flat()];
  const server = await spawnServer({ command, args, env, logFile });
  const deadline = performance.now() + START_MILLISECONDS;
  while (!server.hasEnded() && performance.now() < deadline) {
    if (await isRedisAnswering(Number(further["--port"]))) return server;
    await wait(POLL_MILLISECONDS);
  }
  await server.kill();
  const log = (await readFile(logFile, "utf8")).trim();
  throw new StackError(
    `Redis did not start (${log.split("\n").at(-1) ?? "it gives no reason"}): set REDIS_SERVER to another redis-server or valkey-server.`,
  );
}
