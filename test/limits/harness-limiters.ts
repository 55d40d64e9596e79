import { startTestRedis } from "../harness/redis.ts";
import { startTestRedisCluster } from "../harness/redis-cluster.ts";
import { startTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

/** The stores that can count requests. */
export const LIMITERS = [
  ["the database", async () => undefined],
  ["Redis", startTestRedis],
  ["a Redis Cluster", startTestRedisCluster],
] as const;

/** Starts two instances over one limiter for the tests of a file or group. */
export const useTwoInstances = (startRedis: (typeof LIMITERS)[number][1]) =>
  useStarted(async () => {
    const redis = await startRedis();
    const stack = await startTestStack({ env: { REDIS_URL: redis?.url ?? "" } });
    const ports = [stack.gatewayPort, (await stack.startInstance()).gatewayPort];
    return {
      stack,
      /** Returns the port of each gateway in turn. */
      portOf: (index: number) => ports[index % ports.length] ?? 0,
      async stop() {
        await stack.stop();
        await redis?.stop();
      },
    };
  });
