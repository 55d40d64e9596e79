import type { Pool } from "../database/pool.ts";
import { accountBucket } from "./account-bucket.ts";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionRequest,
  type AdmissionResult,
  CLIENT_LIMIT,
} from "./admission.ts";
import { createFindApiKey } from "./api-key-lookup-store.ts";
import { apiKeyFromRow } from "./api-key-row.ts";
import type { KeyUses } from "./key-uses.ts";
import { refuseEarly } from "./known-refusals.ts";
import type { RateWindow } from "./rate-window.ts";
import {
  type CountedWindow,
  connectWindowRedis,
  countRequests,
  type WindowRedis,
} from "./redis-admission-store.ts";
import { firstAnswer } from "./redis-connection-store.ts";
import { createWaitQueue, type QueuedRequest } from "./wait-queue.ts";

/** A request to count in the window of `bucket`. */
type WindowRequest = QueuedRequest & { readonly bucket: Buffer };

/**
 * Creates an admission that counts in the Redis, Valkey or Redis Cluster at `url`, and reads keys from the
 * database. `nowMs` is a clock that never steps. `uses` notes the uses of valid keys.
 */
export function createRedisAdmission(
  url: string,
  pool: Pool,
  uses: KeyUses,
  nowMs: () => number,
): Admission {
  const redis = connectWindowRedis(url);
  const countClient = createCount(redis, CLIENT_LIMIT, nowMs);
  const findApiKey = createFindApiKey(pool, nowMs);
  const countAccount = createCount(redis, ACCOUNT_LIMIT, nowMs);

  async function count(request: AdmissionRequest): Promise<AdmissionResult> {
    const { client, signal } = request;
    const askedMs = nowMs();
    const clients = await countClient({ client, signal, bucket: client });
    if (!clients.ok) {
      return { kind: "client_refused", untilMs: askedMs + clients.resetMicros / 1_000 };
    }
    if (request.keyHash === undefined) return { kind: "client_admitted" };
    const row = await findApiKey(request);
    if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
    if (row.available !== 1) return { kind: "account_unavailable" };
    uses.note(row);
    const counted = await countAccount({ client, signal, bucket: accountBucket(row.id) });
    const window = windowOf(counted);
    return counted.ok
      ? { kind: "admitted", apiKey: apiKeyFromRow(row), window }
      : { kind: "account_refused", window };
  }

  return {
    ready: firstAnswer(redis),
    admit: refuseEarly(count, nowMs),
    close: async () => redis.disconnect(),
  };
}

/**
 * Creates the count for one limit. A single Redis counts all waiting requests in one script. A cluster counts each
 * request alone: its window is on one node, and requests for other nodes must not wait for that node.
 */
function createCount(
  redis: WindowRedis,
  limit: number,
  nowMs: () => number,
): (request: WindowRequest) => Promise<CountedWindow> {
  const run = (requests: readonly WindowRequest[]) =>
    countRequests(
      redis,
      requests.map(({ bucket }) => bucket),
      limit,
    );
  if (!redis.isCluster) return createWaitQueue({ nowMs, run });
  return async (request) => {
    const [counted] = await run([request]);
    if (counted === undefined) throw new Error("Redis answered without a count");
    return counted;
  };
}

function windowOf({ used, resetMicros }: CountedWindow): RateWindow {
  return {
    remaining: ACCOUNT_LIMIT - used,
    resetSeconds: Math.ceil(resetMicros / 1_000_000),
  };
}
