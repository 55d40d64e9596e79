import { Redis } from "ioredis";
import mysql from "mysql2";
import {
  type RateLimiterAbstract,
  RateLimiterMySQL,
  RateLimiterRedis,
  RateLimiterRes,
} from "rate-limiter-flexible";
import { ApiError, unavailable } from "./api-error.ts";

/** The two request limits, counted where all instances see it. */
export type Limits = {
  countClient(address: string): Promise<RateLimiterRes>;
  countAccount(accountId: string): Promise<RateLimiterRes>;
  close(): Promise<void>;
};

const CLIENT = { points: 300, duration: 60, keyPrefix: "limit_client" };
const ACCOUNT = { points: 120, duration: 60, keyPrefix: "limit_account" };
/** Beside those for pages. Of 10, 20 and 40, 10 gave the most requests and the lowest p99. */
const CONNECTIONS = 10;

/** Counts in Redis where there is one, else in the database. Fixed windows: that is what the library has. */
export async function createLimits(settings: {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
}): Promise<Limits> {
  if (settings.redisUrl !== undefined) {
    const redis = new Redis(settings.redisUrl, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      enableAutoPipelining: true,
    });
    await new Promise((resolve) => redis.once("ready", resolve));
    const options = { storeClient: redis, rejectIfRedisNotReady: true };
    const client = new RateLimiterRedis({ ...options, ...CLIENT });
    const account = new RateLimiterRedis({ ...options, ...ACCOUNT });
    return limitsFrom(client, account, async () => redis.disconnect());
  }
  const pool = mysql.createPool({ uri: settings.databaseUrl, connectionLimit: CONNECTIONS });
  const client = await createMysqlLimiter(pool, settings.databaseUrl, CLIENT);
  const account = await createMysqlLimiter(pool, settings.databaseUrl, ACCOUNT);
  return limitsFrom(client, account, () => pool.promise().end());
}

function createMysqlLimiter(pool: mysql.Pool, url: string, limit: typeof CLIENT) {
  const dbName = new URL(url).pathname.slice(1);
  return new Promise<RateLimiterMySQL>((resolve, reject) => {
    const limiter = new RateLimiterMySQL(
      {
        ...limit,
        storeClient: pool,
        storeType: "pool",
        dbName,
        tableName: `fastify_${limit.keyPrefix}`,
      },
      (error) => (error ? reject(error) : resolve(limiter)),
    );
  });
}

function limitsFrom(
  client: RateLimiterAbstract,
  account: RateLimiterAbstract,
  close: () => Promise<void>,
): Limits {
  return {
    countClient: (address) => count(client, address),
    countAccount: (accountId) => count(account, accountId),
    close,
  };
}

async function count(limiter: RateLimiterAbstract, key: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw unavailable();
    throw new ApiError(
      429,
      "rate_limit_exceeded",
      "Too many requests; try again after 60 seconds.",
    );
  }
}
