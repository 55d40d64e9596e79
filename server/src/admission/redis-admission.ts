import type { Pool } from "../database/pool.ts";
import { accountBucket } from "./account-bucket.ts";
import {
  ACCOUNT_LIMIT,
  type Admission,
  type AdmissionRequest,
  type AdmissionResult,
} from "./admission.ts";
import { createFindApiKey } from "./api-key-lookup-store.ts";
import { type ApiKeyRow, apiKeyFromRow } from "./api-key-row.ts";
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

/** A request to count in the window of its client and, if the client is admitted, in the window of its account. */
type WindowRequest = QueuedRequest & { readonly account: Buffer | undefined };

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
  const countWindows = createCount(redis, nowMs);
  const findApiKey = createFindApiKey(pool, nowMs);

  async function count(request: AdmissionRequest): Promise<AdmissionResult> {
    const { client, signal, keyHash } = request;
    // Reads the key first, so that one script counts the client and the account.
    let row: ApiKeyRow | undefined;
    let failure: { readonly cause: unknown } | undefined;
    try {
      row = keyHash && (await findApiKey(request));
    } catch (cause) {
      failure = { cause };
    }
    const account = row?.active === 1 && row.available === 1 ? accountBucket(row.id) : undefined;
    const askedMs = nowMs();
    const [ofClient, ofAccount] = await countWindows({ client, signal, account });
    if (!ofClient.ok) {
      return { kind: "client_refused", untilMs: askedMs + ofClient.resetMicros / 1_000 };
    }
    // The key could not be read, so the request fails. Its client was counted, so its limit holds.
    if (failure !== undefined) throw failure.cause;
    if (keyHash === undefined) return { kind: "client_admitted" };
    if (row === undefined || row.active !== 1) return { kind: "unknown_key" };
    if (ofAccount === undefined) return { kind: "account_unavailable" };
    uses.note(row);
    const window = windowOf(ofAccount);
    return ofAccount.ok
      ? { kind: "admitted", apiKey: apiKeyFromRow(row), window }
      : { kind: "account_refused", window };
  }

  return {
    ready: firstAnswer(redis),
    admit: refuseEarly(count, nowMs),
    close: async () => redis.disconnect(),
  };
}

type Counted = readonly [client: CountedWindow, account?: CountedWindow | undefined];

/**
 * Creates the function that counts. A single Redis counts all waiting requests in one script. A cluster counts each
 * window alone, because each window is on one node, and no request may wait for a node that it does not need.
 */
function createCount(
  redis: WindowRedis,
  nowMs: () => number,
): (request: WindowRequest) => Promise<Counted> {
  if (redis.isCluster) {
    return async ({ client, account, signal }) => {
      // Does not count requests of clients that left. ADR 0030
      signal?.throwIfAborted();
      const [ofClient] = await countRequests(redis, [client]);
      if (account === undefined || !ofClient?.ok) return [known(ofClient)];
      signal?.throwIfAborted();
      const [ofAccount] = await countRequests(redis, [account]);
      return [ofClient, known(ofAccount)];
    };
  }
  return createWaitQueue({
    nowMs,
    async run(requests: readonly WindowRequest[]) {
      const windows = await countRequests(
        redis,
        requests.flatMap(({ client, account }) => (account ? [client, account] : client)),
      );
      const next = windows.values();
      return requests.map(
        ({ account }): Counted => [known(next.next().value), account && known(next.next().value)],
      );
    },
  });
}

function known(window: CountedWindow | undefined): CountedWindow {
  if (window === undefined) throw new Error("Redis answered without a count");
  return window;
}

function windowOf({ used, resetMicros }: CountedWindow): RateWindow {
  return {
    remaining: ACCOUNT_LIMIT - used,
    resetSeconds: Math.ceil(resetMicros / 1_000_000),
  };
}
