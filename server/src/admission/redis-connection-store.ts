import { createRequire } from "node:module";
import type { Cluster, Redis } from "ioredis";
import { parseRedisUrl, type RedisAddress } from "./redis-url.ts";

/** One server, or a Redis Cluster. */
export type RedisConnection = Redis | Cluster;

/** Loads ioredis only when it is used, because it takes 10 MB. */
const require = createRequire(import.meta.url);

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 3_000;
/**
 * A connection that owes a reply for this long is replaced. Commands time out sooner. Without this limit, a connection
 * to a server that lost power would stay for about 15 minutes, until the operating system closes it.
 */
const SILENT_MS = 3_500;
const MAX_RECONNECT_MS = 1_000;
/** How often a cluster is asked for its slots, because a master that hangs does not report its replacement. */
const SLOTS_REFRESH_MS = 5_000;

/** Options for one server, and for each node of a cluster. */
const CONNECTION = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SILENT_MS,
  maxRetriesPerRequest: 0,
};
/** The reply of a read-only server. Before Redis 7, text and a hyphen precede a script's reply. */
const READ_ONLY_REPLY = /(^|-)READONLY /;
const reconnectMs = (attempt: number) => Math.min(attempt * 50, MAX_RECONNECT_MS);
/** After this many attempts ioredis gives up a node of a cluster. If no node is left, it asks the URL's nodes again. */
const NODE_ATTEMPTS = 10;

/**
 * Connects to the Redis, Valkey or cluster at `url`. While a server cannot be reached, its commands fail. The
 * client reconnects by itself.
 */
export function connectRedis(url: string): RedisConnection {
  const ioredis = require("ioredis") as typeof import("ioredis");
  const address = parseRedisUrl(url);
  const redis =
    address.kind === "cluster"
      ? connectCluster(ioredis, address)
      : new ioredis.Redis(address.url, {
          ...CONNECTION,
          enableOfflineQueue: false,
          retryStrategy: reconnectMs,
          // Reconnects, because a demoted server keeps its connections. The new connection leads to the new master.
          reconnectOnError: ({ message }) => READ_ONLY_REPLY.test(message),
        });
  // Without a listener, ioredis prints each failure to connect, outside the log.
  redis.on("error", () => {});
  return redis;
}

/**
 * Connects to a cluster. If a connection breaks, its commands fail and are not sent again, because Redis may have
 * counted them. If a node redirects a command, the command goes to the named node.
 */
function connectCluster(
  { Cluster }: typeof import("ioredis"),
  { nodes, username, password, tls }: Extract<RedisAddress, { kind: "cluster" }>,
): Cluster {
  return new Cluster([...nodes], {
    redisOptions: {
      ...CONNECTION,
      // Needs no ready check: each node's answers say whether it can serve. With the check, commands would wait until a
      // node has loaded its data. They would then count requests that were refused meanwhile.
      enableReadyCheck: false,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    },
    // Lets each node's client reconnect by itself. Without this, each command for an unreachable node would open one
    // connection to the node, and another one to ask for the slots.
    clusterNodeRetryStrategy: (attempt) => (attempt < NODE_ATTEMPTS ? reconnectMs(attempt) : null),
    clusterRetryStrategy: reconnectMs,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    enableReadyCheck: false,
    // Keeps the host's name, because TLS compares the certificate with it.
    dnsLookup: (name, done) => done(null, name),
  });
}

/** Resolves when `redis` takes commands, cannot be reached, or does not answer for 3 seconds. */
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
