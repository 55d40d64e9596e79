import { DomainError } from "../common/errors.ts";
import { accountNoOf } from "../common/ids.ts";
import type { Micros } from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import { retriableStates } from "../dispatch/delivery-state.ts";
import {
  accountBlocked,
  endpointNotFound,
  endpointSwitchedOff,
} from "../endpoint/endpoint-errors.ts";
import { endpointsOf, listEndpoints } from "../endpoint/endpoint-store.ts";
import { checkBulkRetry } from "../endpoint/owner-limits.ts";
import { lastBulkRetryOf, storeBulkRetry } from "../endpoint/owner-limits-store.ts";
import { accountNotFound } from "../write/locked-account.ts";
import type { Writer } from "../write/writer.ts";
import { beginNextRuns } from "./begin-runs.ts";
import { countInStates, listInStates } from "./delivery-list-store.ts";
import { type DeliveryRecord, deliveriesBy } from "./delivery-store.ts";

/** Maximum deliveries per transaction, so that the account's lock is not held for long. */
const RETRIED_AT_ONCE = 500;
/**
 * Maximum deliveries counted per endpoint. The statement reads at most one more index entry than this from each of 84
 * ranges.
 */
const MAX_COUNTED = 10_000;

/** Selects ended deliveries that were created in a range of time, in microseconds. */
export type Ended = {
  readonly accountId: string;
  /** `undefined` means every endpoint that is on. */
  readonly endpointId: string | undefined;
  readonly range: { readonly since: Micros; readonly until: Micros };
  /** Whether to include deliveries that succeeded. */
  readonly includeDelivered: boolean;
  /** Only deliveries of this kind, and with this last outcome. `undefined` means all. */
  readonly kind: number | undefined;
  readonly lastOutcome: number | undefined;
};

/** A retry continues after this delivery. It goes endpoint by endpoint, the oldest deliveries of each first. */
export type Position = { readonly endpointId: string; readonly after: string };

/** How many runs were begun, and the position of the next part, if there is one. */
type Part = { readonly retried: number; readonly next: Position | undefined };
const END: Part = { retried: 0, next: undefined };

/**
 * Begins one new run of each retriable delivery after a position: one part of `limit` if there is a limit, else all
 * parts until `signal` aborts. Calls `onBegun` after each part that began runs. If no run began, it can fail with
 * `account_not_found`, `endpoint_not_found`, `endpoint_switched_off`, `account_unavailable` or
 * `bulk_retry_limit_reached`.
 */
export async function retryFailed(
  pool: Pool,
  writer: Writer,
  onBegun: () => void,
  ended: Ended,
  { from, limit }: { readonly from: Position | undefined; readonly limit: number | undefined },
  signal: AbortSignal,
): Promise<Part> {
  let retried = 0;
  let next = from;
  do {
    // Each part begins after the previous one, because retried deliveries may have failed again.
    const part = await retryPart(pool, writer, ended, next, limit ?? RETRIED_AT_ONCE).catch(
      (error: unknown) => {
        // For example, the endpoint was switched off meanwhile. The caller gets the count so far.
        if (error instanceof DomainError && retried > 0) return END;
        throw error;
      },
    );
    retried += part.retried;
    if (part.retried > 0) onBegun();
    next = part.next;
  } while (next !== undefined && limit === undefined && !signal.aborted);
  return { retried, next };
}

/**
 * Counts the deliveries in retriable states, at most 10,000 per endpoint. The count includes deliveries whose donation
 * was deleted, but a retry leaves them out. Fails with `endpoint_not_found`.
 */
export async function countRetriable(
  pool: Pool,
  accountNo: number,
  ended: Ended,
): Promise<{ readonly count: number; readonly hasMore: boolean }> {
  const { endpointId } = ended;
  const all = await listEndpoints(pool, accountNo);
  const named = all.filter(({ id, switchedOn }) =>
    endpointId === undefined ? switchedOn : id === endpointId,
  );
  if (endpointId !== undefined && named.length === 0) throw endpointNotFound();
  const states = retriableStates(ended);
  let count = 0;
  let hasMore = false;
  for (const { id } of named) {
    const asked = { ...ended, accountNo, endpointId: id, states };
    const counted = await countInStates(pool, asked, MAX_COUNTED + 1);
    count += Math.min(counted, MAX_COUNTED);
    hasMore ||= counted > MAX_COUNTED;
  }
  return { count, hasMore };
}

async function retryPart(
  pool: Pool,
  { write }: Writer,
  ended: Ended,
  from: Position | undefined,
  limit: number,
): Promise<Part> {
  const accountNo = accountNoOf(ended.accountId);
  if (accountNo === undefined) throw accountNotFound();
  const { endpointId, ids, isLast } = await listNext(pool, accountNo, ended, from, limit);
  const after = ids.at(-1);
  const hasNext = !isLast && endpointId !== undefined && after !== undefined;
  const retried = await write({
    accountId: ended.accountId,
    load: () => ({
      endpoints: endpointsOf([accountNo]),
      deliveries: deliveriesBy(...ids.map((id) => [accountNo, id])),
      lastBulkRetry: lastBulkRetryOf([accountNo]),
    }),
    decide({ endpoints, deliveries, lastBulkRetry: [last] }, account) {
      const endpoint = endpoints.find(({ id }) => id === endpointId);
      if (ended.endpointId !== undefined) {
        if (endpoint === undefined) throw endpointNotFound();
        if (!endpoint.switchedOn) throw endpointSwitchedOff();
      }
      if (account.blocked) throw accountBlocked();
      if (from === undefined) checkBulkRetry(account.nowMicros, last);
      const begun = endpoint?.switchedOn
        ? deliveries.filter((each) => isAsked(ended, each) && !each.isErased)
        : [];
      const runs = begun.length > 0 ? beginNextRuns(account, begun) : [];
      // Only the first part of a bulk retry counts for the limit, even if only later parts begin runs.
      const isCounted = from === undefined && (begun.length > 0 || hasNext);
      const changes = isCounted
        ? [...runs, storeBulkRetry(account.accountNo, account.nowMicros)]
        : runs;
      return { answer: begun.length, changes };
    },
  });
  return { retried, next: hasNext ? { endpointId, after } : undefined };
}

/** Tells whether a delivery still matches the request. The delivery was read again after its account was locked. */
function isAsked(ended: Ended, { state, lastOutcome }: DeliveryRecord): boolean {
  const isOutcome = ended.lastOutcome === undefined || ended.lastOutcome === lastOutcome;
  return isOutcome && retriableStates(ended).includes(state);
}

/** Lists at most `limit` next deliveries, all of the first endpoint that has any. `isLast` means that none follow. */
async function listNext(
  pool: Pool,
  accountNo: number,
  ended: Ended,
  from: Position | undefined,
  limit: number,
): Promise<{ endpointId: string | undefined; ids: string[]; isLast: boolean }> {
  const { endpointId: named } = ended;
  const states = retriableStates(ended);
  const endpointIds = named === undefined ? await idsOfEndpointsOn(pool, accountNo) : [named];
  for (const endpointId of endpointIds.filter(
    (id) => from === undefined || id >= from.endpointId,
  )) {
    const after = endpointId === from?.endpointId ? from.after : undefined;
    const asked = { ...ended, accountNo, endpointId, states };
    const ids = await listInStates(pool, asked, after, limit);
    const isLast = ids.length < limit && endpointId === endpointIds.at(-1);
    if (ids.length > 0) return { endpointId, ids, isLast };
  }
  return { endpointId: named, ids: [], isLast: true };
}

/** Lists the endpoints that are on, by id, because this order stays when one is switched off between two parts. */
async function idsOfEndpointsOn(pool: Pool, accountNo: number): Promise<string[]> {
  const endpoints = await listEndpoints(pool, accountNo);
  return endpoints
    .filter(({ switchedOn }) => switchedOn)
    .map(({ id }) => id)
    .sort();
}
