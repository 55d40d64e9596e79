import type { Packets } from "../database/packet.ts";
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
  countRest,
} from "./database-admission-store.ts";
import type { KeyUses } from "./key-uses.ts";
import { refuseEarly } from "./known-refusals.ts";
import { rateWindowFromRing } from "./rate-window.ts";
import { createWaitQueue } from "./wait-queue.ts";

/**
 * Creates an admission that counts in the database. Waiting requests share one round trip, which counts clients and
 * accounts and reads keys. A refused client costs a second round trip. Batches run one after another, so `packets`
 * needs only one connection of its own. `nowMs` is a clock that never steps. `uses` notes the uses of valid keys.
 */
export function createDatabaseAdmission(
  packets: Packets,
  uses: KeyUses,
  nowMs: () => number,
): Admission {
  const count = createWaitQueue<AdmissionRequest, AdmissionResult>({
    nowMs,
    run: (requests) => admitBatch(packets, uses, requests, nowMs),
  });
  return {
    // It is ready at once, because requests wait for the connection.
    ready: Promise.resolve(),
    admit: refuseEarly(count, nowMs),
    close: () => packets.close(),
  };
}

async function admitBatch(
  packets: Packets,
  uses: KeyUses,
  requests: readonly AdmissionRequest[],
  nowMs: () => number,
): Promise<AdmissionResult[]> {
  const keyHashes = keyHashesOf(requests);
  const clients = requests.map(({ client }) => client);
  const counted = await countBatch(packets, clients, keyHashes);
  const isAdmitted = takeClients(requests, counted);
  if (!isAdmitted.includes(false)) return requests.map(createTakeAccount(counted, uses));
  // A client was refused, so no account was counted. Count the accounts of the admitted requests.
  const admitted = requests.filter((_request, index) => isAdmitted[index]);
  const refused = clients.filter((_client, index) => !isAdmitted[index]);
  const askedMs = nowMs();
  const rest = await countRest(packets, refused, keyHashesOf(admitted));
  const takeAccount = createTakeAccount(rest, uses);
  const micros = new Map(rest.refused.map((row) => [row.bucket.toString("latin1"), row.micros]));
  return requests.map((request, index): AdmissionResult => {
    if (isAdmitted[index]) return takeAccount(request);
    const refusedMs = (micros.get(request.client.toString("latin1")) ?? 0) / 1_000;
    // `askedMs` precedes the statement, so this refusal ends no later than the full window in the database.
    return { kind: "client_refused", untilMs: askedMs + refusedMs };
  });
}

function keyHashesOf(requests: readonly AdmissionRequest[]): Buffer[] {
  return requests.flatMap(({ keyHash }) => keyHash ?? []);
}

/** Gives the admissions of each client to its requests in order of arrival. */
function takeClients(requests: readonly AdmissionRequest[], counted: CountedBatch): boolean[] {
  const remaining = new Map(
    counted.clients.map((row) => [row.bucket.toString("latin1"), row.batch_admitted]),
  );
  return requests.map((request) => takeAdmission(remaining, request.client.toString("latin1")));
}

/** Creates a function that gives the admissions of each account to the requests with its keys, in order of arrival. */
function createTakeAccount({ apiKeys }: Pick<CountedBatch, "apiKeys">, uses: KeyUses) {
  const rows = new Map(apiKeys.map((row) => [row.key_hash.toString("latin1"), row]));
  const remaining = new Map(apiKeys.map((row) => [row.id, row.batch_admitted ?? 0]));
  return (request: AdmissionRequest): AdmissionResult => {
    if (request.keyHash === undefined) return { kind: "client_admitted" };
    const row = rows.get(request.keyHash.toString("latin1"));
    if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
    // `batch_admitted` is null if the account became available between the count and this read.
    if (row.available !== 1 || row.batch_admitted === null) return { kind: "account_unavailable" };
    uses.note(row);
    const window = windowOf(row);
    return takeAdmission(remaining, row.id)
      ? { kind: "admitted", apiKey: apiKeyFromRow(row), window }
      : { kind: "account_refused", window };
  };
}

/** Takes one remaining admission of the client or account `key`. Returns whether there was one. */
function takeAdmission(remaining: Map<string, number>, key: string): boolean {
  const count = remaining.get(key) ?? 0;
  remaining.set(key, count - 1);
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
