import { join } from "node:path";
import { fetchAptPackages } from "./apt-packages.ts";
import { findNamedProgram, findProgram } from "./find-program.ts";
import { canFetchAptPackages } from "./find-server.ts";
import type { Progress } from "./progress.ts";
import { StackError } from "./stack-error.ts";
import { type Launch, launchFromRoot } from "./unpacked-root.ts";

/** Finds a Redis-like server program: named, on the machine, or the distribution's, fetched. */
export async function findRedisServer(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<Launch> {
  const named = env.REDIS_SERVER;
  const path = named
    ? await findNamedProgram(env, named)
    : await findProgram(env, ["redis-server", "valkey-server"]);
  if (path !== undefined) return { command: path, leading: [] };
  if (named) {
    throw new StackError(
      `REDIS_SERVER names ${named}, which is not a program: set it to the path of a redis-server or valkey-server, or unset it.`,
    );
  }
  if (!(await canFetchAptPackages(env))) {
    throw new StackError(
      "No Redis found: set REDIS_SERVER to the path of a redis-server or valkey-server program, or install one of the two so that it is on PATH.",
    );
  }
  const root = await fetchAptPackages({
    names: ["redis-server"],
    into: join(cacheDir, `redis-${process.arch}`),
    title: "Redis",
    megabytes: 250,
    progress,
  });
  return launchFromRoot(root, "usr/bin/redis-server");
}
