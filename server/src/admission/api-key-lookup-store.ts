import { withDeadline } from "../database/deadline.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool } from "../database/pool.ts";
import type { AdmissionRequest } from "./admission.ts";
import { API_KEY_COLUMNS, API_KEY_TABLES, type ApiKeyRow } from "./api-key-row.ts";
import { createWaitQueue } from "./wait-queue.ts";

const DEADLINE_MS = 3_000;

/** Finds the row of a request's API key, in any state. */
export type FindApiKey = (request: AdmissionRequest) => Promise<ApiKeyRow | undefined>;

/** Creates a look-up. One statement reads the keys of all waiting requests. */
export function createFindApiKey(pool: Pool, nowMs: () => number): FindApiKey {
  return createWaitQueue<AdmissionRequest, ApiKeyRow | undefined>({
    nowMs,
    async run(requests) {
      const hashes = requests.flatMap(({ keyHash }) => keyHash ?? []);
      const rows = new Map(
        (await findApiKeys(pool, hashes)).map((row) => [row.key_hash.toString("latin1"), row]),
      );
      return requests.map(({ keyHash }) => rows.get(keyHash?.toString("latin1") ?? ""));
    },
  });
}

/** Finds the keys with these hashes, in any state. */
export function findApiKeys(pool: Pool, keyHashes: readonly Buffer[]): Promise<ApiKeyRow[]> {
  const sql = `SELECT ${API_KEY_COLUMNS(NOW_MICROS)} FROM ${API_KEY_TABLES} WHERE k.key_hash IN (?)`;
  return withDeadline<ApiKeyRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    connection.query(sql, [keyHashes], answer),
  );
}
