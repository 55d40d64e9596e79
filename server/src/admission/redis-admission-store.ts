import { withDeadline } from "../database/deadline.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool } from "../database/pool.ts";
import { API_KEY_COLUMNS, API_KEY_TABLES, type ApiKeyRow } from "./api-key-row.ts";
import { WINDOW_MICROS } from "./rate-window.ts";
import { connectRedis, type RedisConnection } from "./redis-connection-store.ts";
import { RedisUrlError } from "./redis-url.ts";

/** A window as the script leaves it: its clock in microseconds as text, for Lua's numbers lose digits. */
export type CountedWindow = [ok: 0 | 1, used: number, nowMicros: string, oldestMicros: string];

export type WindowRedis = RedisConnection & {
  countRequest(key: string, limit: number, windowMicros: number): Promise<CountedWindow>;
};

/**
 * Counts one request in the list of its bucket's admissions, newest first, in Redis's own clock. As in the
 * database: times never run backwards, and after a step back of the clock all count as made now.
 */
const COUNT_REQUEST = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local text = function(micros) return string.format('%.0f', micros) end
local at = function(place) return tonumber(redis.call('LINDEX', KEYS[1], place)) end
local length = redis.call('LLEN', KEYS[1])
local newest = length > 0 and at(0) or 0
if newest > now + 5000000 then
  redis.call('DEL', KEYS[1])
  for i = 1, length do redis.call('RPUSH', KEYS[1], text(now)) end
elseif newest > now then
  now = newest
end
-- The times fall, so half of them are out of the question at each look.
local used, outside = 0, length
while used < outside do
  local middle = math.floor((used + outside) / 2)
  if at(middle) > now - window then used = middle + 1 else outside = middle end
end
local ok = 0
if used < limit then
  ok = 1
  redis.call('LTRIM', KEYS[1], 0, used - 1)
  if used == 0 then redis.call('DEL', KEYS[1]) end
  redis.call('LPUSH', KEYS[1], text(now))
  redis.call('PEXPIRE', KEYS[1], window / 1000 + 1000)
  used = used + 1
end
local oldest = redis.call('LINDEX', KEYS[1], used - 1)
return { ok, used, text(now), oldest }
`;

const DEADLINE_MS = 3_000;

/** Connects to what REDIS_URL names, and teaches it to count. */
export function connectWindowRedis(url: string): WindowRedis {
  const redis = connectRedis(url);
  redis.defineCommand("countRequest", { numberOfKeys: 1, lua: COUNT_REQUEST });
  return redis as WindowRedis;
}

/**
 * The key of a bucket's window. What a Redis Cluster hashes is the tag in the braces, written in hexadecimal: among the
 * bytes of an address may be braces, which servers and clients would read as tags, not all alike.
 */
export function windowKey(bucket: Buffer): string {
  return `{${bucket.toString("hex")}}`;
}

/** Redis is out of reach, or there but not able to serve. */
export class LimiterUnavailableError extends Error {
  override readonly name = "LimiterUnavailableError";
}

const OUT_OF_REACH = "The shared limiter cannot be reached.";
const IS_CLUSTER =
  "REDIS_URL names a node of a Redis Cluster: begin it with redis-cluster:// or rediss-cluster://.";

/** How the replies begin that tell of a state of the server and not of a wrong command. */
const STATE_REPLY =
  /^(LOADING|READONLY|OOM|BUSY|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOAUTH|WRONGPASS|NOREPLICAS)/;

/**
 * Counts one request against a bucket. Throws LimiterUnavailableError when Redis cannot, and RedisUrlError when it is a
 * cluster and REDIS_URL calls it a server.
 */
export async function countRequest(
  redis: WindowRedis,
  bucket: Buffer,
  limit: number,
): Promise<CountedWindow> {
  // A cluster's client would keep it, and count it when nobody waits for it any more.
  if (redis.status !== "ready") throw new LimiterUnavailableError(OUT_OF_REACH);
  try {
    return await redis.countRequest(windowKey(bucket), limit, WINDOW_MICROS);
  } catch (error) {
    const isReply = error instanceof Error && error.name === "ReplyError";
    if (isReply && error.message.startsWith("MOVED")) throw new RedisUrlError(IS_CLUSTER);
    if (isReply && !STATE_REPLY.test(error.message)) throw error;
    throw new LimiterUnavailableError(OUT_OF_REACH, { cause: error });
  }
}

/** Finds the keys with these hashes, whatever their state. */
export function findApiKeys(pool: Pool, keyHashes: readonly Buffer[]): Promise<ApiKeyRow[]> {
  const sql = `SELECT ${API_KEY_COLUMNS(NOW_MICROS)} FROM ${API_KEY_TABLES} WHERE k.key_hash IN (?)`;
  return withDeadline<ApiKeyRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    connection.query(sql, [keyHashes], answer),
  );
}
