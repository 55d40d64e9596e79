import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createRedisClaims, type RunScript } from "./claims.ts";

const DEFAULT_KEY_PREFIX = "receiver-kit:";

/** How the store keeps what it knows, and under which keys. */
export interface RedisStoreOptions extends LeaseOptions {
  /** What every key begins with. Default `receiver-kit:`. */
  readonly keyPrefix?: string | undefined;
}

/** What the store needs of an `ioredis` client or cluster. */
export interface IoredisClient {
  eval(script: string, numberOfKeys: number, ...keysAndValues: string[]): Promise<unknown>;
}

/** What the store needs of a client or cluster of the `redis` package (node-redis). */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** Creates a store in Redis or Valkey over `ioredis`. */
export function createIoredisStore(
  client: IoredisClient,
  options?: RedisStoreOptions,
): OnceStore<LeaseContext> {
  return createStore((script, key, values) => client.eval(script, 1, key, ...values), options);
}

/** Creates a store in Redis or Valkey over the `redis` package (node-redis). */
export function createNodeRedisStore(
  client: NodeRedisClient,
  options?: RedisStoreOptions,
): OnceStore<LeaseContext> {
  return createStore(
    (script, key, values) => client.eval(script, { keys: [key], arguments: values }),
    options,
  );
}

function createStore(
  runScript: RunScript,
  options: RedisStoreOptions = {},
): OnceStore<LeaseContext> {
  return createLeaseStore(
    createRedisClaims(runScript, options.keyPrefix ?? DEFAULT_KEY_PREFIX),
    options,
  );
}
