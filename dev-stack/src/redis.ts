import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOrFetch } from "./find-or-fetch.ts";
import { readFirstBytes } from "./first-bytes.ts";
import { findFreePort, LOOPBACK } from "./free-port.ts";
import { startServer } from "./server-process.ts";
import type { StackOptions } from "./stack-options.ts";

export interface StartRedis extends StackOptions {
  /** The port to listen on, by default any free one. */
  port?: number | undefined;
  /** Further options of the server, with their dashes. */
  serverOptions?: Readonly<Record<string, string>>;
}

/** A Redis or Valkey that stores nothing on disk. */
export interface RunningRedis {
  url: string;
  /** The process of the running server. */
  readonly pid: number;
  /** Kills the server. */
  kill(): Promise<void>;
  /** Ends the server and starts a new one on the same port. The new server is empty but still in its cluster. */
  restart(): Promise<void>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

const ANSWER_MILLISECONDS = 1000;

/** Starts the server that `REDIS_SERVER` names, one on the machine, or the distribution's, downloaded. */
export async function startRedis(options: StartRedis): Promise<RunningRedis> {
  const { env, serverOptions } = options;
  const launch = await findOrFetch(
    {
      ...{ title: "Redis", given: { REDIS_SERVER: env.REDIS_SERVER } },
      ...{ called: ["redis-server", "valkey-server"], packages: ["redis-server"] },
      ...{ folder: "redis", megabytes: 250, path: "usr/bin/redis-server" },
    },
    options,
  );
  const folder = await mkdtemp(join(tmpdir(), "personal-activity-redis-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const port = options.port ?? (await findFreePort());
  const args = Object.entries({
    ...{ "--bind": LOOPBACK, "--port": String(port), "--dir": folder, "--save": "" },
    ...{ "--appendonly": "no", "--daemonize": "no", ...serverOptions },
  }).flat();
  const start = () =>
    startServer({
      ...{ title: "Redis", launch, args, env, logFile: join(folder, "redis.log") },
      isReady: () =>
        readFirstBytes(LOOPBACK, port, ANSWER_MILLISECONDS, "PING\r\n").then(
          (answer) => answer.toString("latin1").startsWith("+PONG"),
          () => false,
        ),
    });
  try {
    let server = await start();
    return {
      url: `redis://${LOOPBACK}:${port}`,
      get pid() {
        return server.pid;
      },
      kill: () => server.kill(),
      async restart() {
        await server.kill();
        server = await start();
      },
      async stop() {
        await server.kill();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
