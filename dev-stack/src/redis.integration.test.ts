import { expect, it } from "vitest";
import { cacheFolder } from "./cache-folder.ts";
import { createProgress } from "./progress.ts";
import { startRedis } from "./redis.ts";
import { isRedisAnswering } from "./redis-ping.ts";

it("runs, dies when killed, comes back on its port, and ends when stopped", async () => {
  const redis = await startRedis({
    env: process.env,
    cacheDir: cacheFolder(process.env),
    progress: createProgress(),
  });
  const port = Number(new URL(redis.url).port);
  try {
    expect(await isRedisAnswering(port)).toBe(true);
    await redis.kill();
    expect(await isRedisAnswering(port)).toBe(false);
    await redis.restart();
    expect(await isRedisAnswering(port)).toBe(true);
  } finally {
    await redis.stop();
  }
  expect(await isRedisAnswering(port)).toBe(false);
});
