import { cacheFolder } from "../../../dev-stack/src/cache-folder.ts";
import { silentProgress } from "../../../dev-stack/src/progress.ts";
import { type RunningRedis, startRedis as startStackRedis } from "../../../dev-stack/src/redis.ts";

/** Starts an empty Redis or Valkey: the machine's, or a download of the distribution's. */
export function startRedis(): Promise<RunningRedis> {
  const { env } = process;
  return startStackRedis({ env, cacheDir: cacheFolder(env), progress: silentProgress });
}
