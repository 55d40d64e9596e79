import { cacheFolder } from "../../../tools/stack/cache-folder.ts";
import { silentProgress } from "../../../tools/stack/progress.ts";
import { type RunningRedis, startRedis as startStackRedis } from "../../../tools/stack/redis.ts";

/** Starts an empty Redis or Valkey: the machine's, or the distribution's, fetched. */
export function startRedis(): Promise<RunningRedis> {
  const { env } = process;
  return startStackRedis({ env, cacheDir: cacheFolder(env), progress: silentProgress });
}
