import { isAccountBucket } from "./account-bucket.ts";
import { ACCOUNT_LIMIT, CLIENT_LIMIT } from "./admission.ts";
import { WINDOW_MICROS } from "./rate-window.ts";
import { connectRedis, type RedisConnection } from "./redis-connection-store.ts";
import { RedisUrlError } from "./redis-url.ts";

/**
 * A window after the script has counted a request in it. `ok`: the request was admitted. `used`: admissions in the
 * window. `resetMicros`: microseconds until the oldest admission leaves.
 */
export type CountedWindow = {
  readonly ok: boolean;
  readonly used: number;
  readonly resetMicros: number;
};

export type WindowRedis = RedisConnection & {
  /** The database of REDIS_URL, if the server refused to select it. The connection then leads to database 0. */
  refusedDatabase?: number | undefined;
  /** Why the last attempt to connect failed; `undefined` once the connection is ready. */
  connectError?: unknown;
  /** Returns three numbers per key: `ok` as 1 or 0, `used`, and `resetMicros`. */
  countRequests(
    keyCount: number,
    ...keysAndArguments: readonly (string | number)[]
  ): Promise<readonly number[]>;
};

/**
 * The script counts one request at each Redis key. At an account's key (`a`) it counts only if the key before admitted
 * the request. A key holds the times of a bucket's admissions as a list, newest first, by Redis's clock. As in the
 * database store, all admissions count as made now if the clock stepped back by over five seconds. After a smaller
 * step, the key's newest time counts as now.
 */
const COUNT_REQUESTS = `
local clock = redis.call('TIME')
local clockMicros = clock[1] * 1000000 + clock[2]
local window, kinds = tonumber(ARGV[1]), ARGV[2]
local limits = { c = tonumber(ARGV[3]), a = tonumber(ARGV[4]) }
local text = function(micros) return string.format('%.0f', micros) end
local keep = function(key) redis.call('PEXPIRE', key, window / 1000 + 1000) end
local count = function(key, limit)
  local at = function(index) return tonumber(redis.call('LINDEX', key, index)) end
  local now, used = clockMicros, redis.call('LLEN', key)
  local newest = used > 0 and at(0) or 0
  if newest > now + 5000000 then
    redis.call('DEL', key)
    for i = 1, used do redis.call('RPUSH', key, text(now)) end
    keep(key)
  elseif newest > now then
    now = newest
  end
  local oldest = used > 0 and at(-1) or now
  while used > 0 and oldest <= now - window do
    redis.call('RPOP', key)
    used = used - 1
    oldest = used > 0 and at(-1) or now
  end
  local ok = 0
  if used < limit then
    ok = 1
    redis.call('LPUSH', key, text(now))
    keep(key)
    used = used + 1
  end
  return ok, used, oldest + window - now
end
local counted, ok = {}, 1
for place, key in ipairs(KEYS) do
  local kind, used, reset = string.sub(kinds, place, place), 0, 0
  if kind == 'c' or ok == 1 then ok, used, reset = count(key, limits[kind]) end
  counted[3 * place - 2], counted[3 * place - 1], counted[3 * place] = ok, used, reset
end
return counted
`;

type FailedCommand = Error & {
  readonly command?: { readonly name: string; readonly args: readonly string[] };
};

/** Connects to the Redis at `url`, and defines the script that counts. */
export function connectWindowRedis(url: string): WindowRedis {
  const redis: RedisConnection & Pick<WindowRedis, "refusedDatabase" | "connectError"> =
    connectRedis(url);
  redis.defineCommand("countRequests", { lua: COUNT_REQUESTS });
  redis.on("connect", () => {
    redis.refusedDatabase = undefined;
  });
  redis.on("ready", () => {
    redis.connectError = undefined;
  });
  redis.on("error", (error: FailedCommand) => {
    // A cluster's error has its reason only in `lastNodeError`.
    redis.connectError = "lastNodeError" in error ? error.lastNodeError : error;
    if (isReply(error) && error.command?.name === "select") {
      redis.refusedDatabase = Number(error.command.args[0]);
    }
  });
  return redis as WindowRedis;
}

/**
 * Returns the Redis key of a bucket's window. A Redis Cluster hashes the tag in the braces. The tag is hexadecimal: raw
 * bytes could be braces, which servers and clients read differently.
 */
export function windowKey(bucket: Buffer): string {
  return `{${bucket.toString("hex")}}`;
}

/** Redis cannot be reached, or cannot serve now. */
export class LimiterUnavailableError extends Error {
  override readonly name = "LimiterUnavailableError";
}

const OUT_OF_REACH = "The shared limiter cannot be reached.";
const IS_CLUSTER =
  "REDIS_URL names a node of a Redis Cluster: begin it with redis-cluster:// or rediss-cluster://.";

const HAS_NO_DATABASE =
  "Redis refuses the database number of REDIS_URL: choose one that it has and that the user may select.";

const LACKS_RIGHTS =
  "The user of REDIS_URL lacks rights: allow it ~{*} +eval +evalsha +info +time +llen +lindex +lpush +rpush +rpop +del +pexpire, with a database number also +select, in a Redis Cluster also +cluster|slots +asking.";

/** Replies to a user without a right for the script, its keys or its commands. Versions word them differently. */
const RIGHTS_REPLY = /^NOPERM|The user executing the script|ACL failure in script/;

/** Replies of a cluster's node to keys of another node, and to keys of several slots. */
const CLUSTER_REPLY = /^(MOVED|CROSSSLOT)/;

/**
 * Replies about the server's state, not a wrong command. Before Redis 7, text and a hyphen precede a script's reply.
 */
const STATE_REPLY =
  /(^|-)(LOADING|READONLY|OOM|BUSY|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOAUTH|WRONGPASS|NOREPLICAS)/;

/**
 * Counts one request in each bucket with one script. A bucket may repeat. An account's bucket follows its client's, and
 * is counted only if the client was admitted. A cluster takes one bucket per call. Throws LimiterUnavailableError if
 * Redis cannot count, and RedisUrlError if REDIS_URL names a cluster as one server, a database that Redis refuses, or a
 * user without rights.
 */
export async function countRequests(
  redis: WindowRedis,
  buckets: readonly Buffer[],
): Promise<CountedWindow[]> {
  // Without this check, ioredis would queue the command to a cluster, which would count it after the client has left.
  if (redis.status !== "ready") {
    throw new LimiterUnavailableError(OUT_OF_REACH, { cause: redis.connectError });
  }
  await selectRefused(redis);
  try {
    const kinds = buckets.map((bucket) => (isAccountBucket(bucket) ? "a" : "c")).join("");
    const counted = await redis.countRequests(
      buckets.length,
      ...buckets.map(windowKey),
      ...[WINDOW_MICROS, kinds, CLIENT_LIMIT, ACCOUNT_LIMIT],
    );
    return buckets.map((_, place) => {
      const [ok, used = 0, resetMicros = 0] = counted.slice(3 * place, 3 * place + 3);
      return { ok: ok === 1, used, resetMicros };
    });
  } catch (error) {
    if (isReply(error) && CLUSTER_REPLY.test(error.message)) throw new RedisUrlError(IS_CLUSTER);
    if (isReply(error) && RIGHTS_REPLY.test(error.message)) throw new RedisUrlError(LACKS_RIGHTS);
    if (isReply(error) && !STATE_REPLY.test(error.message)) throw error;
    throw new LimiterUnavailableError(OUT_OF_REACH, { cause: error });
  }
}

/** Selects a refused database again: the user may have the right by now. ioredis selects only on a new connection. */
async function selectRefused(redis: WindowRedis): Promise<void> {
  if (redis.refusedDatabase === undefined) return;
  try {
    await redis.select(redis.refusedDatabase);
    redis.refusedDatabase = undefined;
  } catch (error) {
    if (isReply(error)) throw new RedisUrlError(HAS_NO_DATABASE);
    throw new LimiterUnavailableError(OUT_OF_REACH, { cause: error });
  }
}

/** Tells whether a count failed because of Redis: it is away, REDIS_URL does not fit it, or it refused the script. */
export function isOfLimiter(error: unknown): boolean {
  const isKnown = error instanceof LimiterUnavailableError || error instanceof RedisUrlError;
  return isKnown || isReply(error);
}

/** Tells whether an error is a server's reply, and not a failed connection. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}
