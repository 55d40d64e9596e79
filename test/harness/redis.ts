import { Redis } from "ioredis";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { type RunningRedis, type StartRedis, startRedis } from "../../dev-stack/src/redis.ts";

const ANSWER_MS = 5_000;

/** Starts a Redis or Valkey for one test. */
export const startTestRedis = (
  options: Pick<StartRedis, "port" | "serverOptions"> = {},
): Promise<RunningRedis> =>
  startRedis({ env: process.env, progress: createProgress(), ...options });

/** Sends a command on a connection of its own. Resolves with the reply; rejects if the reply is an error. */
export function sendToRedis(url: string, command: string, ...args: (string | number)[]) {
  const never = { enableReadyCheck: false, retryStrategy: () => null };
  const redis = new Redis(url, { ...never, commandTimeout: ANSWER_MS });
  redis.on("error", () => undefined);
  return redis.call(command, ...args).finally(() => redis.disconnect());
}
