import type { AttemptOutcome } from "@activity/proto";
import { anyOf } from "../database/any-of.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { OF_SHARDS_THAT_SERVE } from "../database/shard-error.ts";
import { SIGNING_SECRET } from "../signing-secret/signing-secret-store.ts";
import { DeliveryState, RUNNING_STATES } from "./delivery-state.ts";
import type { Queue } from "./fair-share.ts";
import { LEASE_MICROS, Task } from "./outbox-store.ts";
import { anyDelivery, anyRun, type DeliveryKey, type RunKey } from "./run-key.ts";

/** The last queue on a page of the outbox. The next page begins after it. */
export type QueuePosition = Pick<Queue, "accountNo" | "endpointId">;

export type LeasedEntry = RunKey & {
  /** False if the run has ended or its account was deleted. */
  readonly isRunning: boolean;
};

/** The data that one attempt sends. */
export type AttemptContent = {
  readonly endpointId: string;
  readonly url: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly standardWebhooks: boolean;
  readonly eventId: string;
  readonly payload: Buffer;
  /** W3C traceparent of the sampled span that wrote the event. */
  readonly traceparent?: string | undefined;
};

/** An attempt that has ended; `endedAt` is in microseconds since 1970. */
export type PastAttempt = { readonly outcome: AttemptOutcome; readonly endedAt: number };

type KeyRow = RowDataPacket & { account_no: number; delivery_id: string };
type PageRow = KeyRow & { endpoint_id: string };
type LeasedRow = KeyRow & { run: number; is_running: number | null };
type ContentRow = LeasedRow & {
  endpoint_id: string;
  url: string | null;
  secret: Buffer | null;
  standard_webhooks: number | null;
  event_id: string | null;
  payload: Buffer | null;
  traceparent: string | null;
};
type RetryRow = LeasedRow & { due_in: number | null };
type PastRow = KeyRow & { outcome: AttemptOutcome; ended_at: number };

/**
 * If a lease ends this much later than a new lease would end, the database's clock has stepped back. This is longer
 * than any wait for a lock: a claim that waits keeps the time at which it began, and may then find another claim's
 * later lease.
 */
const CLOCK_STEP_MICROS = 60_000_000;
const LAST_LEASE_END = `${NOW_MICROS} + ${LEASE_MICROS + CLOCK_STEP_MICROS}`;
/** True also for an entry that was leased before the clock stepped back. */
const CAN_BE_CLAIMED = `(leased_until IS NULL OR leased_until <= ${NOW_MICROS} OR leased_until > ${LAST_LEASE_END})`;
/** With `IS NULL` MariaDB would take the column for a constant, and sort all entries instead of reading the index. */
const WAS_NEVER_LEASED = "COALESCE(leased_until, -1) = -1";
const IS_LEASED = `leased_until > ${NOW_MICROS} AND leased_until <= ${LAST_LEASE_END}`;
const IS_RUNNING = `d.run = o.run AND d.state IN (${RUNNING_STATES.join(", ")})`;
/**
 * On a small outbox, a plain DELETE reads and locks the whole table, so this statement names the index. MariaDB allows
 * that only with an alias. MySQL takes an optimizer hint without an alias, because a vtgate drops aliases. Each server
 * reads the other's form as a comment.
 */
const DELETE_BY_PRIMARY =
  "DELETE /*+ INDEX(outbox_entry PRIMARY) */ /*M! o */ FROM outbox_entry /*M! o FORCE INDEX (PRIMARY) */";
const ENTRY = { account: "account_no", delivery: "delivery_id" };
const ENTRY_O = { account: "o.account_no", delivery: "o.delivery_id" };

/**
 * Lists the claimable entries after a queue, queue by queue. In each queue, entries whose lease has ended come first.
 * They are left out unless `includeEnded`. The others follow, oldest first.
 */
export async function listClaimable(
  pool: Pool,
  task: Task,
  { accountNo, endpointId }: QueuePosition,
  limit: number,
  includeEnded: boolean,
): Promise<readonly (QueuePosition & DeliveryKey)[]> {
  const rows = await queryWithin<PageRow[]>(
    pool,
    `SELECT ${OF_SHARDS_THAT_SERVE} account_no, endpoint_id, delivery_id
     FROM outbox_entry FORCE INDEX (outbox_entry_queue)
     WHERE task = ? AND (account_no > ? OR account_no = ? AND endpoint_id > ?)
       AND ${includeEnded ? CAN_BE_CLAIMED : WAS_NEVER_LEASED}
     ORDER BY account_no, endpoint_id, leased_until DESC, delivery_id LIMIT ${limit}`,
    [task, accountNo, accountNo, endpointId],
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    endpointId: row.endpoint_id,
    deliveryId: row.delivery_id,
  }));
}

/** Counts the leased entries of queues (at least one) by endpoint. Each is an attempt in flight. */
export async function countLeased(
  pool: Pool,
  task: Task,
  queues: readonly QueuePosition[],
): Promise<ReadonlyMap<string, number>> {
  const { sql, values } = anyOf(
    ["account_no", "endpoint_id"],
    queues.map(({ accountNo, endpointId }) => [accountNo, endpointId]),
  );
  const rows = await queryWithin<(RowDataPacket & { endpoint_id: string; leased: number })[]>(
    pool,
    `SELECT endpoint_id, COUNT(*) AS leased FROM outbox_entry FORCE INDEX (outbox_entry_queue)
     WHERE task = ? AND ${sql} AND ${IS_LEASED} GROUP BY endpoint_id`,
    [task, ...values],
  );
  return new Map(rows.map((row) => [row.endpoint_id, row.leased]));
}

/** Leases the given entries (at least one) that can still be claimed. */
export async function leaseEntries(
  pool: Pool,
  task: Task,
  keys: readonly DeliveryKey[],
  leaseId: string,
): Promise<void> {
  const { sql, values } = anyDelivery(keys, ENTRY);
  await queryWithin<ResultSetHeader>(
    pool,
    // Locks in the order of PRIMARY, as `recordAttempts` does. In the order of the queue's index the two would
    // deadlock.
    `UPDATE outbox_entry FORCE INDEX (PRIMARY) SET lease_id = ?, leased_until = ${NOW_MICROS} + ${LEASE_MICROS}
     WHERE ${sql} AND task = ? AND ${CAN_BE_CLAIMED}`,
    [leaseId, ...values, task],
  );
}

/** Ends a claim's leases of entries (at least one) that no poller received. */
export async function releaseEntries(
  pool: Pool,
  keys: readonly DeliveryKey[],
  leaseId: string,
): Promise<void> {
  const { sql, values } = anyDelivery(keys, ENTRY);
  await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE outbox_entry FORCE INDEX (PRIMARY) SET leased_until = NULL WHERE ${sql} AND lease_id = ?`,
    [...values, leaseId],
  );
}

/**
 * Renews the leases of runs (at least one) whose first attempt is made and cannot be recorded yet. Otherwise another
 * dispatcher would make it again. A lease with half its time left is not renewed, because recorders repeat their calls
 * often.
 */
export function renewLeases(runs: readonly RunKey[]): Statement {
  const { sql, values } = anyRun(runs, ENTRY);
  return {
    sql: `UPDATE outbox_entry FORCE INDEX (PRIMARY) SET leased_until = ${NOW_MICROS} + ${LEASE_MICROS}
      WHERE ${sql} AND task = ${Task.Attempt}
        AND COALESCE(leased_until, 0) NOT BETWEEN ${NOW_MICROS} + ${LEASE_MICROS / 2} AND ${LAST_LEASE_END}`,
    values,
  };
}

/**
 * Loads the first attempts that a claim leased among these entries (at least one). Those without `content` cannot be
 * sent: the endpoint is off or deleted, or the account is blocked.
 */
export async function loadLeasedAttempts(
  pool: Pool,
  keys: readonly DeliveryKey[],
  leaseId: string,
): Promise<(LeasedEntry & { readonly content: AttemptContent | undefined })[]> {
  const { sql, values } = anyDelivery(keys, ENTRY_O);
  const rows = await queryWithin<ContentRow[]>(
    pool,
    `SELECT o.account_no, o.delivery_id, o.run, o.endpoint_id, ${IS_RUNNING} AS is_running,
       e.url, ${SIGNING_SECRET} AS secret, e.standard_webhooks, w.id AS event_id, w.payload, w.traceparent
     FROM outbox_entry o FORCE INDEX (PRIMARY)
     LEFT JOIN delivery d ON d.account_no = o.account_no AND d.id = o.delivery_id
     LEFT JOIN webhook_event w ON w.account_no = d.account_no AND w.id = d.event_id
     LEFT JOIN account a ON a.account_no = o.account_no AND a.blocked_at IS NULL
     LEFT JOIN endpoint e ON e.account_no = a.account_no AND e.id = o.endpoint_id
       AND e.switched_on AND e.deleted_at IS NULL
     WHERE ${sql} AND o.lease_id = ?`,
    [...values, leaseId],
  );
  return rows.map((row) => ({ ...leasedFromRow(row), content: contentFromRow(row) }));
}

/** Loads the retries that a claim leased among these entries (at least one). */
export async function loadLeasedRetries(
  pool: Pool,
  keys: readonly DeliveryKey[],
  leaseId: string,
): Promise<(LeasedEntry & { readonly dueInMicros: number })[]> {
  const { sql, values } = anyDelivery(keys, ENTRY_O);
  const rows = await queryWithin<RetryRow[]>(
    pool,
    `SELECT o.account_no, o.delivery_id, o.run, ${IS_RUNNING} AS is_running,
       d.next_attempt_at - ${NOW_MICROS} AS due_in
     FROM outbox_entry o FORCE INDEX (PRIMARY)
     LEFT JOIN delivery d ON d.account_no = o.account_no AND d.id = o.delivery_id
     WHERE ${sql} AND o.lease_id = ?`,
    [...values, leaseId],
  );
  return rows.map((row) => ({
    ...leasedFromRow(row),
    dueInMicros: Math.max(0, row.due_in ?? 0),
  }));
}

/** Lists the recorded attempts of runs (at least one), in order. */
export async function listAttemptsOfRuns(
  pool: Pool,
  runs: readonly RunKey[],
): Promise<(DeliveryKey & PastAttempt)[]> {
  const { sql, values } = anyRun(runs, ENTRY);
  const rows = await queryWithin<PastRow[]>(
    pool,
    `SELECT account_no, delivery_id, outcome, started_at + duration AS ended_at
     FROM delivery_attempt FORCE INDEX (PRIMARY)
     WHERE ${sql} ORDER BY account_no, delivery_id, attempt`,
    values,
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    deliveryId: row.delivery_id,
    outcome: row.outcome,
    endedAt: row.ended_at,
  }));
}

/** Cancels the given runs (at least one) that have not ended. */
export function cancelRuns(runs: readonly RunKey[]): Statement {
  const { sql, values } = anyRun(runs, { account: "account_no", delivery: "id" });
  return {
    sql: `UPDATE delivery FORCE INDEX (PRIMARY) SET state = ${DeliveryState.Canceled}, next_attempt_at = NULL
      WHERE ${sql} AND state IN (${RUNNING_STATES.join(", ")})`,
    values,
  };
}

/** Deletes the outbox entries of runs (at least one). An entry of a later run of the delivery stays. */
export function deleteEntries(runs: readonly RunKey[]): Statement {
  const { sql, values } = anyRun(runs, ENTRY);
  return { sql: `${DELETE_BY_PRIMARY} WHERE ${sql}`, values };
}

function leasedFromRow(row: LeasedRow): LeasedEntry {
  return {
    accountNo: row.account_no,
    deliveryId: row.delivery_id,
    run: row.run,
    isRunning: row.is_running === 1,
  };
}

function contentFromRow(row: ContentRow): AttemptContent | undefined {
  const { url, secret, event_id: eventId, payload } = row;
  if (url === null || secret === null || eventId === null || payload === null) return undefined;
  const { endpoint_id: endpointId } = row;
  return {
    ...{ endpointId, url, secret, eventId, payload },
    standardWebhooks: row.standard_webhooks === 1,
    traceparent: row.traceparent ?? undefined,
  };
}
