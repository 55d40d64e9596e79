import { createBatcher } from "../batcher.ts";
import type { Pool } from "../database/pool.ts";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionRequest,
  type AdmissionResult,
} from "./admission.ts";
import { apiKeyFromRow } from "./api-key-row.ts";
import {
  type CountedApiKeyRow,
  type CountedBatch,
  countBatch,
} from "./database-admission-store.ts";
import { rateWindowFromRing } from "./rate-window.ts";

/** Requests that share a round trip at most. */
const LARGEST_BATCH = 64;
/** Requests in line beyond which a further one is turned away at once. */
const MOST_WAITING = 5_000;
/** How often a batch that lost a deadlock against another instance's is sent again. */
const DEADLOCK_RETRIES = 5;

/**
 * Counts in the database: one round trip, shared by all requests that wait at the same moment, counts the
 * clients and the accounts and reads the keys. `pool` is a pool of one connection of its own, made by
 * `createAdmissionPool`.
 */
export function createDatabaseAdmission(pool: Pool): Admission {
  const admit = createBatcher<AdmissionRequest, AdmissionResult>({
    largest: LARGEST_BATCH,
    mostWaiting: MOST_WAITING,
    keyOf: (request) => request.keyHash?.toString("latin1"),
    run: (requests) => admitBatch(pool, requests),
  });
  return { admit, close: () => pool.end() };
}

async function admitBatch(
  pool: Pool,
  requests: readonly AdmissionRequest[],
): Promise<AdmissionResult[]> {
  const counted = await count(
    pool,
    requests.map((request) => request.client),
    requests.flatMap((request) => request.keyHash ?? []),
  );
  const clientAdmitted = takeClients(requests, counted);
  if (!clientAdmitted.includes(false)) return resultsOf(requests, clientAdmitted, counted);
  // A client was refused, so no account was counted: count those of the others.
  const keyHashes = requests.flatMap((request, index) =>
    clientAdmitted[index] && request.keyHash ? [request.keyHash] : [],
  );
  const accounts = keyHashes.length > 0 ? await count(pool, [], keyHashes) : counted;
  return resultsOf(requests, clientAdmitted, accounts);
}

async function count(
  pool: Pool,
  clients: readonly Buffer[],
  keyHashes: readonly Buffer[],
): Promise<CountedBatch> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await countBatch(pool, clients, keyHashes);
    } catch (error) {
      const lostDeadlock =
        error instanceof Error && "code" in error && error.code === "ER_LOCK_DEADLOCK";
      if (!lostDeadlock || attempt === DEADLOCK_RETRIES) throw error;
    }
  }
}

/** Gives the admissions of each client to its requests in order of arrival. */
function takeClients(requests: readonly AdmissionRequest[], counted: CountedBatch): boolean[] {
  const left = new Map(
    counted.clients.map((row) => [row.bucket.toString("latin1"), row.batch_admitted]),
  );
  return requests.map((request) => takeOne(left, request.client.toString("latin1")));
}

function resultsOf(
  requests: readonly AdmissionRequest[],
  clientAdmitted: readonly boolean[],
  counted: CountedBatch,
): AdmissionResult[] {
  const rows = new Map(counted.apiKeys.map((row) => [row.key_hash.toString("latin1"), row]));
  const left = new Map(counted.apiKeys.map((row) => [row.id, row.batch_admitted ?? 0]));
  return requests.map((request, index): AdmissionResult => {
    if (!clientAdmitted[index]) return { kind: "client_refused" };
    if (request.keyHash === undefined) return { kind: "client_admitted" };
    const row = rows.get(request.keyHash.toString("latin1"));
    if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
    if (row.available !== 1) return { kind: "account_unavailable" };
    const window = windowOf(row);
    return takeOne(left, row.id)
      ? { kind: "admitted", apiKey: apiKeyFromRow(row), window }
      : { kind: "account_refused", window };
  });
}

/** Takes one from a count of what is left, if there is one. */
function takeOne(left: Map<string, number>, key: string): boolean {
  const count = left.get(key) ?? 0;
  left.set(key, count - 1);
  return count > 0;
}

function windowOf(row: CountedApiKeyRow) {
  return rateWindowFromRing(
    row.ring ?? Buffer.alloc(0),
    row.admitted ?? 0,
    ACCOUNT_LIMIT,
    row.last_at ?? 0,
  );
}
