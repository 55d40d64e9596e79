import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createRedisClaims, type RunScript } from "./claims.ts";

const DEFAULT_KEY_PREFIX = "receiver-kit:";

/** The options of the Redis store. */
export interface RedisStoreOptions extends LeaseOptions {
  /** The prefix of every key. Default `receiver-kit:`. */
  readonly keyPrefix?: string | undefined;
}

/** The part of an `ioredis` client or cluster that the store uses. */
export interface IoredisClient {
  eval(script: string, numberOfKeys: number, ...keysAndValues: string[]): Promise<unknown>;
}

/** The part of a client or cluster of the `redis` package (node-redis) that the store uses. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** Creates a store in Redis or Valkey with `ioredis`. */
export function createIoredisStore(
  client: IoredisClient,
  options?: RedisStoreOptions,
): OnceStore<LeaseContext> {
  return createStore((script, key, values) => client.eval(script, 1, key, ...values), options);
}

/** Creates a store in Redis or Valkey with the `redis` package (node-redis). */
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
