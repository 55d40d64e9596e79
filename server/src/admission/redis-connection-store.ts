import { createRequire } from "node:module";
import type { Cluster, Redis } from "ioredis";
import { parseRedisUrl, type RedisAddress } from "./redis-url.ts";

/** One server, or a Redis Cluster. */
export type RedisConnection = Redis | Cluster;

/** Loaded where it is used, for it takes 10 MB. */
const require = createRequire(import.meta.url);

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_MS = 1_000;
/** How often a cluster is asked where its slots are: a master that hangs tells nobody that another took its place. */
const SLOTS_REFRESH_MS = 5_000;

/** The same for one server and for each node of a cluster. */
const CONNECTION = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  maxRetriesPerRequest: 0,
};
const reconnectMs = (attempt: number) => Math.min(attempt * 50, MAX_RECONNECT_MS);

/**
 * Connects to the Redis or Valkey at `url`, or to the cluster of them. While a server is out of reach every command
 * that it should answer fails; the connection comes back by itself.
 */
export function connectRedis(url: string): RedisConnection {
  const ioredis = require("ioredis") as typeof import("ioredis");
  const address = parseRedisUrl(url);
  const redis =
    address.kind === "cluster"
      ? connectCluster(ioredis, address)
      : new ioredis.Redis(url, {
          ...CONNECTION,
          enableOfflineQueue: false,
          retryStrategy: reconnectMs,
        });
  // Each command reports its own failure; without a listener the connection's would end the process.
  redis.on("error", () => {});
  return redis;
}

/**
 * A command whose connection broke fails, and is not sent again: it may have been counted. A command that a node
 * redirects goes to the node it names.
 */
function connectCluster(
  { Cluster }: typeof import("ioredis"),
  { nodes, username, password, tls }: Extract<RedisAddress, { kind: "cluster" }>,
): Cluster {
  return new Cluster([...nodes], {
    redisOptions: {
      ...CONNECTION,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    },
    // Without it each command for a node that is away would open a connection, and another to ask for the slots.
    clusterNodeRetryStrategy: reconnectMs,
    clusterRetryStrategy: reconnectMs,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Each node says with its answers whether it can serve.
    enableReadyCheck: false,
    // A certificate is of a name: it stays one until a connection is opened.
    dnsLookup: (name, done) => done(null, name),
  });
}

/** Resolves when `redis` takes commands, when it cannot be reached, or when it says nothing for 3 seconds. */
export function firstAnswer(redis: RedisConnection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, COMMAND_TIMEOUT_MS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    redis.once("ready", end);
    redis.once("close", end);
  });
}
