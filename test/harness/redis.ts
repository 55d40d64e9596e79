import { createProgress } from "../../dev-stack/src/progress.ts";
import { type RunningRedis, startRedis } from "../../dev-stack/src/redis.ts";
import { type RunningRedisCluster, startRedisCluster } from "./redis-cluster.ts";

const WHAT_THERE_IS = { env: process.env, progress: createProgress() };

/** Starts a Redis or Valkey for one test. */
export function startTestRedis(): Promise<RunningRedis> {
  return startRedis(WHAT_THERE_IS);
}

/** Starts a Redis Cluster for one test. */
export function startTestRedisCluster(): Promise<RunningRedisCluster> {
  return startRedisCluster(WHAT_THERE_IS);
}
