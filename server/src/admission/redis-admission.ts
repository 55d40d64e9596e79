import { createBatcher } from "../batcher.ts";
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
import { type RateWindow, WINDOW_MICROS } from "./rate-window.ts";
import {
  type CountedWindow,
  connectWindowRedis,
  countRequest,
  findApiKeys,
} from "./redis-admission-store.ts";

const LARGEST_BATCH = 64;
const MOST_WAITING = 5_000;

/** Counts in the Redis or Valkey at `url` and reads keys from the database. */
export function createRedisAdmission(url: string, pool: Pool): Admission {
  const redis = connectWindowRedis(url);
  const findApiKey = createBatcher<Buffer, ApiKeyRow | undefined>({
    largest: LARGEST_BATCH,
    mostWaiting: MOST_WAITING,
    keyOf: () => undefined,
    run: (keyHashes) => findInOrder(pool, keyHashes),
  });

  async function admit(request: AdmissionRequest): Promise<AdmissionResult> {
    const [clientAdmitted] = await countRequest(redis, request.client, CLIENT_LIMIT);
    if (clientAdmitted === 0) return { kind: "client_refused" };
    if (request.keyHash === undefined) return { kind: "client_admitted" };
    const row = await findApiKey(request.keyHash);
    if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
    if (row.available !== 1) return { kind: "account_unavailable" };
    const counted = await countRequest(redis, accountBucket(row.id), ACCOUNT_LIMIT);
    const window = windowOf(counted);
    return counted[0] === 1
      ? { kind: "admitted", apiKey: apiKeyFromRow(row), window }
      : { kind: "account_refused", window };
  }

  return { admit, close: async () => redis.disconnect() };
}

async function findInOrder(
  pool: Pool,
  keyHashes: readonly Buffer[],
): Promise<(ApiKeyRow | undefined)[]> {
  const found = await findApiKeys(pool, keyHashes);
  const rows = new Map(found.map((row) => [row.key_hash.toString("latin1"), row]));
  return keyHashes.map((keyHash) => rows.get(keyHash.toString("latin1")));
}

function windowOf([, used, nowMicros, oldestMicros]: CountedWindow): RateWindow {
  const resetMicros = Number(oldestMicros) + WINDOW_MICROS - Number(nowMicros);
  return {
    remaining: ACCOUNT_LIMIT - used,
    resetSeconds: Math.ceil(resetMicros / 1_000_000),
  };
}
