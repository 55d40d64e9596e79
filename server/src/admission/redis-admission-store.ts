import { createRequire } from "node:module";
import type { Redis } from "ioredis";
import { withDeadline } from "../database/deadline.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool } from "../database/pool.ts";
import { API_KEY_COLUMNS, API_KEY_TABLES, type ApiKeyRow } from "./api-key-row.ts";
import { WINDOW_MICROS } from "./rate-window.ts";

/** A window as the script leaves it: its clock in microseconds as text, for Lua's numbers lose digits. */
export type CountedWindow = [ok: 0 | 1, used: number, nowMicros: string, oldestMicros: string];

export interface WindowRedis extends Redis {
  countRequest(bucket: Buffer, limit: number, windowMicros: number): Promise<CountedWindow>;
}

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

/** Loaded where it is used, for it takes 10 MB. */
const require = createRequire(import.meta.url);

const DEADLINE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 3_000;
const LONGEST_RECONNECT_MS = 1_000;

/**
 * Connects to the Redis or Valkey at `url`. While it is out of reach every command fails at once; the
 * connection comes back by itself.
 */
export function connectWindowRedis(url: string): WindowRedis {
  const redis: Redis = new (require("ioredis") as typeof import("ioredis")).Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    retryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_RECONNECT_MS),
  });
  // Each command reports its own failure; without a listener the connection's would end the process.
  redis.on("error", () => {});
  redis.defineCommand("countRequest", { numberOfKeys: 1, lua: COUNT_REQUEST });
  return redis as WindowRedis;
}

/** Redis is out of reach, or there but not able to serve. */
export class LimiterUnavailableError extends Error {
  override readonly name = "LimiterUnavailableError";
}

/** How the replies begin that tell of a state of the server and not of a wrong command. */
const STATE_REPLY =
  /^(LOADING|READONLY|OOM|BUSY|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOAUTH|WRONGPASS|NOREPLICAS)/;

/** Counts one request against a bucket; throws LimiterUnavailableError when Redis cannot. */
export async function countRequest(
  redis: WindowRedis,
  bucket: Buffer,
  limit: number,
): Promise<CountedWindow> {
  try {
    return await redis.countRequest(bucket, limit, WINDOW_MICROS);
  } catch (error) {
    const isBug =
      error instanceof Error && error.name === "ReplyError" && !STATE_REPLY.test(error.message);
    if (isBug) throw error;
    throw new LimiterUnavailableError("The shared limiter cannot be reached.", { cause: error });
  }
}

/** Finds the keys with these hashes, whatever their state. */
export function findApiKeys(pool: Pool, keyHashes: readonly Buffer[]): Promise<ApiKeyRow[]> {
  const sql = `SELECT ${API_KEY_COLUMNS(NOW_MICROS)} FROM ${API_KEY_TABLES} WHERE k.key_hash IN (?)`;
  return withDeadline<ApiKeyRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    connection.query(sql, [keyHashes], answer),
  );
}
