import { Redis } from "ioredis";
import mysql from "mysql2";
import {
  type RateLimiterAbstract,
  RateLimiterMySQL,
  RateLimiterRedis,
  RateLimiterRes,
} from "rate-limiter-flexible";
import { ApiError, unavailable } from "./api-error.ts";

/** The two request limits, shared by all instances. */
export type Limits = {
  countClient(address: string): Promise<RateLimiterRes>;
  countAccount(accountId: string): Promise<RateLimiterRes>;
  close(): Promise<unknown>;
};
type Limit = { readonly points: number; readonly duration: number; readonly keyPrefix: string };

const CLIENT: Limit = { points: 300, duration: 60, keyPrefix: "limit_client" };
const ACCOUNT: Limit = { points: 120, duration: 60, keyPrefix: "limit_account" };
/** The limiter's own connections. Of 10, 20 and 40, 10 gave the most requests and the lowest p99. */
const CONNECTIONS = 10;

/** Counts in Redis if there is one, otherwise in the database. The library has fixed windows only. */
export async function createLimits(uri: string, redisUrl: string | undefined): Promise<Limits> {
  const { make, close } = redisUrl ? await onRedis(redisUrl) : onMysql(uri);
  const [client, account] = [await make(CLIENT), await make(ACCOUNT)];
  return {
    countClient: (address) => count(client, address),
    countAccount: (accountId) => count(account, accountId),
    close,
  };
}

async function onRedis(url: string) {
  const redis = new Redis(url, {
    ...{ enableOfflineQueue: false, maxRetriesPerRequest: 0, enableAutoPipelining: true },
  });
  await new Promise((resolve) => redis.once("ready", resolve));
  const options = { storeClient: redis, rejectIfRedisNotReady: true };
  const make = async (limit: Limit) => new RateLimiterRedis({ ...options, ...limit });
  return { make, close: async () => redis.disconnect() };
}

function onMysql(uri: string) {
  const pool = mysql.createPool({ uri, connectionLimit: CONNECTIONS });
  const options = { storeClient: pool, storeType: "pool", dbName: new URL(uri).pathname.slice(1) };
  const make = (limit: Limit) =>
    new Promise<RateLimiterAbstract>((resolve, reject) => {
      const limiter = new RateLimiterMySQL(
        { ...options, ...limit, tableName: `fastify_${limit.keyPrefix}` },
        (error) => (error ? reject(error) : resolve(limiter)),
      );
    });
  return { make, close: () => pool.promise().end() };
}

async function count(limiter: RateLimiterAbstract, key: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw unavailable();
    const message = "Too many requests; try again after 60 seconds.";
    throw new ApiError(429, "rate_limit_exceeded", message);
  }
}
