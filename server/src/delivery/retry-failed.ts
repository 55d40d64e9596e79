import { lockAccount, readAccount } from "../account/account-store.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Outbox } from "../dispatch/outbox.ts";
import {
  accountBlocked,
  endpointNotFound,
  endpointSwitchedOff,
} from "../endpoint/endpoint-errors.ts";
import { findEndpoint } from "../endpoint/endpoint-store.ts";
import { DomainError } from "../errors.ts";
import type { Micros } from "../timestamps.ts";
import { listRetriable } from "./delivery-list-store.ts";
import { lockRetriableDeliveries } from "./delivery-store.ts";
import { retryLocked } from "./retry-locked.ts";

/** Deliveries retried in one transaction, so that the account's lock is never held for long. */
const RETRIED_AT_ONCE = 500;

/** The deliveries of an endpoint that were created in a range of time, in microseconds. */
type Failed = {
  readonly accountId: string;
  readonly endpointId: string;
  readonly range: { readonly since: Micros; readonly until: Micros };
};

/** What one transaction retried, and the last one that it looked at unless there are no more. */
type Batch = { readonly retried: number; readonly last: string | undefined };
const END: Batch = { retried: 0, last: undefined };

/**
 * Begins one new run of each delivery that can be retried, oldest first, until `signal` is aborted or the
 * endpoint takes no more; returns how many it began. Fails with `account_not_found`, `endpoint_not_found`,
 * `endpoint_switched_off` and `account_unavailable` when it could begin none.
 */
export async function retryFailed(
  pool: Pool,
  failed: Failed,
  outbox: Outbox,
  signal: AbortSignal,
): Promise<number> {
  let retried = 0;
  let after: string | undefined;
  while (!signal.aborted) {
    // A batch begins where the last one ended: what was retried may have failed again by now.
    const batch = await retryBatch(pool, failed, after).catch((error: unknown) => {
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
  { accountId, endpointId, range }: Failed,
  after: string | undefined,
): Promise<Batch> {
  return inTransaction(pool, async (tx) => {
    const accountNo = await lockAccount(tx, accountId);
    const endpoint = await findEndpoint(tx, accountNo, endpointId);
    if (endpoint === undefined) throw endpointNotFound();
    if (!endpoint.switchedOn) throw endpointSwitchedOff();
    if ((await readAccount(tx, accountId)).blocked) throw accountBlocked();
    const listed = await listRetriable(tx, accountNo, endpointId, range, after, RETRIED_AT_ONCE);
    if (listed.length === 0) return END;
    const locked = await lockRetriableDeliveries(tx, accountNo, listed);
    const [first, ...rest] = locked;
    if (first !== undefined) await retryLocked(tx, accountNo, [first, ...rest]);
    return {
      retried: locked.length,
      last: listed.length < RETRIED_AT_ONCE ? undefined : listed.at(-1),
    };
  });
}
