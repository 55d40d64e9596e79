import { cacheFolder } from "../../tools/stack/cache-folder.ts";
import { createProgress } from "../../tools/stack/progress.ts";
import { type RunningRedis, startRedis } from "../../tools/stack/redis.ts";
import { type RunningRedisCluster, startRedisCluster } from "../../tools/stack/redis-cluster.ts";

const WHAT_THERE_IS = {
  env: process.env,
  cacheDir: cacheFolder(process.env),
  progress: createProgress(),
};

/** Starts a Redis or Valkey of a test's own. */
export function startTestRedis(): Promise<RunningRedis> {
  return startRedis(WHAT_THERE_IS);
}

/** Starts a Redis Cluster of a test's own. */
export function startTestRedisCluster(): Promise<RunningRedisCluster> {
  return startRedisCluster(WHAT_THERE_IS);
}
