import { AttemptOutcome } from "@activity/proto";
import { anyOf } from "../database/any-of.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { Transaction } from "../database/transaction.ts";
import type { DeliveryState } from "../dispatch/delivery-state.ts";
import { anyDelivery, type DeliveryKey, type RunKey } from "../dispatch/run-key.ts";

/** One hour. Attempts are counted by the hour in which they began. */
export const HOUR_MICROS = 3_600_000_000;

/** The upper bounds of the ranges in which durations are counted. */
export const DURATION_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000] as const;
const TOOK = [...DURATION_BOUNDS_MS.map((bound) => `took_${bound}`), "took_longer"];

/** An attempt that is not counted; times in microseconds. */
export type UncountedAttempt = RunKey & {
  readonly attempt: number;
  readonly startedAt: number;
  readonly duration: number;
  readonly isDelivered: boolean;
  readonly statusCode: number | undefined;
};

/** The part of a delivery that counting needs. */
export type CountedDelivery = RunKey & {
  readonly endpointId: string;
  readonly test: boolean;
  readonly state: DeliveryState;
  /** How many attempts its last run has. */
  readonly attempts: number;
};

/** The counts of an endpoint's attempts that began within one hour; times in microseconds. */
export type StatHour = {
  readonly beganAt: number;
  readonly delivered: number;
  readonly failed: number;
  readonly totalDuration: number;
  readonly longestDuration: number;
  /** Failed attempts by status class. `unanswered` have no status. */
  readonly redirects: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly unanswered: number;
  /** Attempts in each range of `DURATION_BOUNDS_MS`, then those above the last bound. */
  readonly durations: readonly number[];
};

type AttemptRow = RowDataPacket & {
  account_no: number;
  delivery_id: string;
  run: number;
  attempt: number;
  started_at: number;
  duration: number;
  outcome: AttemptOutcome;
  status_code: number | null;
};
type DeliveryRow = RowDataPacket & {
  account_no: number;
  id: string;
  endpoint_id: string;
  test: number;
  state: DeliveryState;
  run: number;
  attempts: number;
};
type HourRow = RowDataPacket & {
  began_at: number;
  delivered: number;
  failed: number;
  total_duration: number;
  longest_duration: number;
  redirects: number;
  client_errors: number;
  server_errors: number;
  unanswered: number;
} & Record<string, number>;

/**
 * Locks at most `limit` attempts that are not counted, of the delivery `from` and those after it. Skips attempts that
 * another transaction has locked. If the sender's clock was ahead, the attempt counts as begun now, because an hour in
 * the future would stay the endpoint's latest hour.
 */
export async function lockUncounted(
  tx: Transaction,
  from: DeliveryKey,
  limit: number,
): Promise<UncountedAttempt[]> {
  const [rows] = await tx.query<AttemptRow[]>(
    `SELECT account_no, delivery_id, run, attempt, LEAST(started_at, ${NOW_MICROS}) AS started_at,
       duration, outcome, status_code
     FROM delivery_attempt FORCE INDEX (delivery_attempt_counted)
     WHERE counted = FALSE AND (account_no > ? OR account_no = ? AND delivery_id >= ?)
     ORDER BY account_no, delivery_id LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
    [from.accountNo, from.accountNo, from.deliveryId],
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    deliveryId: row.delivery_id,
    run: row.run,
    attempt: row.attempt,
    startedAt: row.started_at,
    duration: row.duration,
    isDelivered: row.outcome === AttemptOutcome.DELIVERED,
    statusCode: row.status_code ?? undefined,
  }));
}

/** Lists the given deliveries (at least one) that exist. */
export async function listCounted(
  tx: Transaction,
  keys: readonly DeliveryKey[],
): Promise<CountedDelivery[]> {
  const { sql, values } = anyDelivery(keys, { account: "account_no", delivery: "id" });
  const [rows] = await tx.query<DeliveryRow[]>(
    `SELECT account_no, id, endpoint_id, test, state, run, attempts
     FROM delivery FORCE INDEX (PRIMARY) WHERE ${sql}`,
    [...values],
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    deliveryId: row.id,
    endpointId: row.endpoint_id,
    test: row.test === 1,
    state: row.state,
    run: row.run,
    attempts: row.attempts,
  }));
}

/** The numbers to add to an hour. `failedRuns` are runs that failed with an attempt of this hour. */
export type AddedHour = StatHour & {
  readonly accountNo: number;
  readonly endpointId: string;
  readonly failedRuns: number;
};

const CLASSES = ["redirects", "client_errors", "server_errors", "unanswered"];
/** The columns that are sums. */
const ADDED = ["delivered", "failed", "total_duration", "failed_runs", ...CLASSES, ...TOOK];

/** Adds numbers to hours of endpoints, and creates hours that do not exist. `hours` must have at least one. */
export async function addToHours(tx: Transaction, hours: readonly AddedHour[]): Promise<void> {
  await tx.query(
    `INSERT INTO delivery_stat
       (account_no, endpoint_id, began_at, longest_duration, ${ADDED.join(", ")})
     VALUES ?
     ON DUPLICATE KEY UPDATE longest_duration = GREATEST(longest_duration, VALUES(longest_duration)),
       ${ADDED.map((column) => `${column} = ${column} + VALUES(${column})`).join(", ")}`,
    [
      hours.map((hour) => [
        ...[hour.accountNo, hour.endpointId, hour.beganAt, hour.longestDuration],
        ...[hour.delivered, hour.failed, hour.totalDuration, hour.failedRuns],
        ...[hour.redirects, hour.clientErrors, hour.serverErrors, hour.unanswered],
        ...hour.durations,
      ]),
    ],
  );
}

/** Marks attempts as counted. The transaction must have locked them, and there must be at least one. */
export async function markCounted(
  tx: Transaction,
  attempts: readonly UncountedAttempt[],
): Promise<void> {
  const { sql, values } = anyOf(
    ["account_no", "delivery_id", "run", "attempt"],
    attempts.map((each) => [each.accountNo, each.deliveryId, each.run, each.attempt]),
  );
  await tx.query(`UPDATE delivery_attempt FORCE INDEX (PRIMARY) SET counted = TRUE WHERE ${sql}`, [
    ...values,
  ]);
}

/**
 * Deletes at most `limit` counted attempts of the runs before `run` of a delivery. The caller first commits the count,
 * so that it holds no locks while this deletion waits for others.
 */
export async function deleteRunsBefore(
  pool: Pool,
  { accountNo, deliveryId, run }: RunKey,
  limit: number,
): Promise<void> {
  await queryWithin<ResultSetHeader>(
    pool,
    `DELETE FROM delivery_attempt
     WHERE account_no = ? AND delivery_id = ? AND run < ? AND counted = TRUE LIMIT ${limit}`,
    [accountNo, deliveryId, run],
  );
}

/** Deletes at most `limit` hours that began more than `keptMicros` ago, and returns how many it deleted. */
export async function deleteOldHours(
  pool: Pool,
  keptMicros: number,
  limit: number,
): Promise<number> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `DELETE FROM delivery_stat WHERE began_at < ${NOW_MICROS} - ? LIMIT ${limit}`,
    [keptMicros],
  );
  return affectedRows;
}

/** Lists the hours with attempts at an endpoint, from the hour of `since` on, oldest first. */
export async function listHours(
  pool: Pool,
  accountNo: number,
  endpointId: string,
  since: number | bigint,
): Promise<StatHour[]> {
  const rows = await queryWithin<HourRow[]>(
    pool,
    `SELECT began_at, delivered, failed, total_duration, longest_duration, ${CLASSES.join(", ")},
       ${TOOK.join(", ")} FROM delivery_stat
     WHERE account_no = ? AND endpoint_id = ? AND began_at > ? - ${HOUR_MICROS} ORDER BY began_at`,
    [accountNo, endpointId, since],
  );
  return rows.map((row) => ({
    beganAt: row.began_at,
    delivered: row.delivered,
    failed: row.failed,
    totalDuration: row.total_duration,
    longestDuration: row.longest_duration,
    redirects: row.redirects,
    clientErrors: row.client_errors,
    serverErrors: row.server_errors,
    unanswered: row.unanswered,
    durations: TOOK.map((column) => row[column] ?? 0),
  }));
}
