import { afterAll, beforeAll } from "vitest";
import { startTestRedis, startTestRedisCluster } from "../harness/redis.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";

/** The stores that can count requests. */
export const LIMITERS = [
  ["the database", async () => undefined],
  ["Redis", startTestRedis],
  ["a Redis Cluster", startTestRedisCluster],
] as const;

/** Starts two instances over one limiter for the tests of a group. */
export function useTwoInstances(startRedis: (typeof LIMITERS)[number][1]) {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let stack: TestStack;
  let ports: number[];
  beforeAll(async () => {
    redis = await startRedis();
    stack = await startTestStack({ redisUrl: redis?.url });
    const second = await stack.startInstance();
    ports = [stack.gatewayPort, second.gatewayPort];
  });
  afterAll(async () => {
    await stack.stop();
    await redis?.stop();
  });
  return {
    stack: () => stack,
    /** The port of a gateway, alternating. */
    portOf: (index: number) => ports[index % ports.length] ?? 0,
  };
}
