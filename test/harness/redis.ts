import { cacheFolder } from "../../tools/stack/cache-folder.ts";
import { createProgress } from "../../tools/stack/progress.ts";
import { type RunningRedis, startRedis } from "../../tools/stack/redis.ts";

/** Starts a Redis or Valkey of a test's own. */
export function startTestRedis(): Promise<RunningRedis> {
  return startRedis({
    env: process.env,
    cacheDir: cacheFolder(process.env),
    progress: createProgress(),
  });
}
