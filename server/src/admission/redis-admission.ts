import type { Pool } from "../database/pool.ts";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionRequest,
  type AdmissionResult,
  CLIENT_LIMIT,
} from "./admission.ts";
import { type ApiKeyRow, apiKeyFromRow } from "./api-key-row.ts";
import { accountBucket } from "./client-bucket.ts";
import type { KeyUses } from "./key-uses.ts";
import { refuseWhatIsKnown } from "./known-refusals.ts";
import { type RateWindow, WINDOW_MICROS } from "./rate-window.ts";
import {
  type CountedWindow,
  connectWindowRedis,
  countRequest,
  findApiKeys,
} from "./redis-admission-store.ts";
import { firstAnswer } from "./redis-connection-store.ts";
import { createWaitQueue } from "./wait-queue.ts";

/**
 * Counts in the Redis, Valkey or Redis Cluster at `url` and reads keys from the database; `nowMs` is a clock that never steps. Keys
 * that work are noted in `uses`.
 */
export function createRedisAdmission(
  url: string,
  pool: Pool,
  uses: KeyUses,
  nowMs: () => number,
): Admission {
  const redis = connectWindowRedis(url);
  const findApiKey = createWaitQueue<ApiKeyRow | undefined>({
    nowMs,
    run: (requests) => findInOrder(pool, requests),
  });

  async function count(request: AdmissionRequest): Promise<AdmissionResult> {
    const askedMs = nowMs();
    const client = await countRequest(redis, request.client, CLIENT_LIMIT);
    if (client[0] === 0) {
      return { kind: "client_refused", untilMs: askedMs + resetMicrosOf(client) / 1_000 };
    }
    if (request.keyHash === undefined) return { kind: "client_admitted" };
    const row = await findApiKey(request);
    if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
    if (row.available !== 1) return { kind: "account_unavailable" };
    uses.note(row);
    const counted = await countRequest(redis, accountBucket(row.id), ACCOUNT_LIMIT);
    const window = windowOf(counted);
    return counted[0] === 1
      ? { kind: "admitted", apiKey: apiKeyFromRow(row), window }
      : { kind: "account_refused", window };
  }

  return {
    ready: firstAnswer(redis),
    admit: refuseWhatIsKnown(count, nowMs),
    close: async () => redis.disconnect(),
  };
}

async function findInOrder(
  pool: Pool,
  requests: readonly AdmissionRequest[],
): Promise<(ApiKeyRow | undefined)[]> {
  const found = await findApiKeys(
    pool,
    requests.flatMap(({ keyHash }) => keyHash ?? []),
  );
  const rows = new Map(found.map((row) => [row.key_hash.toString("latin1"), row]));
  return requests.map(({ keyHash }) => rows.get(keyHash?.toString("latin1") ?? ""));
}

function windowOf(counted: CountedWindow): RateWindow {
  return {
    remaining: ACCOUNT_LIMIT - counted[1],
    resetSeconds: Math.ceil(resetMicrosOf(counted) / 1_000_000),
  };
}

/** How long until the oldest admission leaves the window. */
function resetMicrosOf([, , nowMicros, oldestMicros]: CountedWindow): number {
  return Number(oldestMicros) + WINDOW_MICROS - Number(nowMicros);
}
