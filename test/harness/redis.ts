import { createProgress } from "../../dev-stack/src/progress.ts";
import { type RunningRedis, type StartRedis, startRedis } from "../../dev-stack/src/redis.ts";

/** Starts a Redis or Valkey for one test. */
export const startTestRedis = (
  options: Pick<StartRedis, "port" | "serverOptions"> = {},
): Promise<RunningRedis> =>
  startRedis({ env: process.env, progress: createProgress(), ...options });
