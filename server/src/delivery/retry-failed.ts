import { DomainError } from "../common/errors.ts";
import { accountNoOf } from "../common/ids.ts";
import type { Micros } from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import { retriableStates } from "../dispatch/delivery-state.ts";
import type { Outbox } from "../dispatch/outbox.ts";
import {
  accountBlocked,
  endpointNotFound,
  endpointSwitchedOff,
} from "../endpoint/endpoint-errors.ts";
import { endpointsOf } from "../endpoint/endpoint-store.ts";
import { checkBulkRetry } from "../endpoint/owner-limits.ts";
import { lastBulkRetryOf, storeBulkRetry } from "../endpoint/owner-limits-store.ts";
import { accountNotFound } from "../write/locked-account.ts";
import type { Writer } from "../write/writer.ts";
import { beginNextRuns } from "./begin-runs.ts";
import { listInStates } from "./delivery-list-store.ts";
import { deliveriesBy } from "./delivery-store.ts";

/** Deliveries retried in one transaction, so that the account's lock is never held for long. */
const RETRIED_AT_ONCE = 500;

/** Deliveries of an endpoint whose run has ended, created in a range of time, in microseconds. */
type Ended = {
  readonly accountId: string;
  readonly endpointId: string;
  readonly range: { readonly since: Micros; readonly until: Micros };
  /** Whether those that were delivered are among them. */
  readonly includeDelivered: boolean;
};

/** What one transaction retried, and the last one that it looked at unless there are no more. */
type Batch = { readonly retried: number; readonly last: string | undefined };
const END: Batch = { retried: 0, last: undefined };

/**
 * Begins one new run of each delivery that can be retried, oldest first, until `signal` is aborted or the
 * endpoint takes no more; returns how many it began. Fails with `account_not_found`, `endpoint_not_found`,
 * `endpoint_switched_off`, `account_unavailable` and `bulk_retry_limit_reached` when it could begin none.
 */
export async function retryFailed(
  pool: Pool,
  writer: Writer,
  ended: Ended,
  outbox: Outbox,
  signal: AbortSignal,
): Promise<number> {
  let retried = 0;
  let after: string | undefined;
  while (!signal.aborted) {
    // A batch begins where the last one ended: what was retried may have failed again by now.
    const batch = await retryBatch(pool, writer, ended, after).catch((error: unknown) => {
      // Switched off or deleted in the middle: the caller learns what was begun before.
      if (error instanceof DomainError && retried > 0) return END;
      throw error;
    });
    retried += batch.retried;
    if (batch.retried > 0) outbox.attempts.notify();
    if (batch.last === undefined) break;
    after = batch.last;
  }
  return retried;
}

/** Retries the next deliveries behind a position, and returns that of the last unless there are no more. */
async function retryBatch(
  pool: Pool,
  { write }: Writer,
  { accountId, endpointId, range, includeDelivered }: Ended,
  after: string | undefined,
): Promise<Batch> {
  const no = accountNoOf(accountId);
  if (no === undefined) throw accountNotFound();
  const states = retriableStates({ includeDelivered });
  const listed = await listInStates(pool, no, endpointId, states, range, after, RETRIED_AT_ONCE);
  const retried = await write({
    accountId,
    load: (accountNo) => ({
      endpoints: endpointsOf([accountNo]),
      deliveries: deliveriesBy(...listed.map((id) => [accountNo, id])),
      lastBulkRetry: lastBulkRetryOf([accountNo]),
    }),
    decide({ endpoints, deliveries, lastBulkRetry: [last] }, account) {
      const endpoint = endpoints.find(({ id }) => id === endpointId);
      if (endpoint === undefined) throw endpointNotFound();
      if (!endpoint.switchedOn) throw endpointSwitchedOff();
      if (account.blocked) throw accountBlocked();
      if (after === undefined) checkBulkRetry(account.nowMicros, last);
      const ended = deliveries.filter((each) => states.includes(each.state) && !each.isErased);
      if (ended.length === 0) return { answer: 0 };
      return {
        answer: ended.length,
        changes: [
          ...beginNextRuns(account, ended),
          storeBulkRetry(account.accountNo, account.nowMicros),
        ],
      };
    },
  });
  return { retried, last: listed.length < RETRIED_AT_ONCE ? undefined : listed.at(-1) };
}
