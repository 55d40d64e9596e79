import { AttemptOutcome } from "@activity/proto";
import type { Insert, Table } from "../database/change.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { DeliveryState } from "./delivery-state.ts";
import { Task } from "./outbox-store.ts";
import { anyDelivery, anyRun, type DeliveryKey, type RunKey } from "./run-key.ts";

export type NewAttempt = RunKey & {
  readonly attempt: number;
  readonly startedAt: number | bigint;
  readonly durationMicros: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | undefined;
  readonly detail: string | undefined;
  readonly responseHeaders: string;
  readonly responseBody: Uint8Array;
};

export type LockedDelivery = RunKey & {
  readonly endpointId: string;
  readonly state: DeliveryState;
  readonly attempts: number;
};

/** The values of a delivery after an attempt. */
export type AfterAttempt = {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly outcome: AttemptOutcome;
  readonly retryInMicros: number | undefined;
};

export type LockedRow = RowDataPacket & {
  account_no: number;
  id: string;
  endpoint_id: string;
  run: number;
  state: DeliveryState;
  attempts: number;
};

const COLUMNS = { account: "account_no", delivery: "id" };

/**
 * Whether a new result replaces the stored one: only the new one was delivered. Assign `outcome` last, because each
 * assignment before it compares the stored outcome.
 */
const IS_BETTER = `VALUES(outcome) = ${AttemptOutcome.DELIVERED} AND outcome <> ${AttemptOutcome.DELIVERED}`;

const ATTEMPT: Table = {
  insert: `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
    status_code, detail, response_headers, response_body)`,
  // A stored attempt stays, unless it failed and the new one was delivered.
  ending: `ON DUPLICATE KEY UPDATE
    ${[
      "started_at",
      "duration",
      "status_code",
      "detail",
      "response_headers",
      "response_body",
      "outcome",
    ]
      .map((column) => `${column} = IF(${IS_BETTER}, VALUES(${column}), ${column})`)
      .join(", ")}`,
};

/** Locks the given deliveries (at least one) that no other transaction has locked. */
export function lockFreeDeliveries(keys: readonly DeliveryKey[]): Statement {
  const { sql, values } = anyDelivery(keys, COLUMNS);
  return {
    sql: `SELECT account_no, id, endpoint_id, run, state, attempts FROM delivery FORCE INDEX (PRIMARY)
      WHERE ${sql} FOR UPDATE SKIP LOCKED`,
    values,
  };
}

export function lockedDeliveryFromRow(row: LockedRow): LockedDelivery {
  return {
    accountNo: row.account_no,
    deliveryId: row.id,
    endpointId: row.endpoint_id,
    run: row.run,
    state: row.state,
    attempts: row.attempts,
  };
}

/** Lists the given deliveries (at least one) that exist, including those that another transaction has locked. */
export async function listPresent(
  pool: Pool,
  keys: readonly DeliveryKey[],
): Promise<DeliveryKey[]> {
  const { sql, values } = anyDelivery(keys, COLUMNS);
  const rows = await queryWithin<LockedRow[]>(
    pool,
    `SELECT account_no, id FROM delivery FORCE INDEX (PRIMARY) WHERE ${sql}`,
    values,
  );
  return rows.map((row) => ({ accountNo: row.account_no, deliveryId: row.id }));
}

export function storeAttempt(attempt: NewAttempt): Insert {
  return {
    into: ATTEMPT,
    row: [
      attempt.accountNo,
      attempt.deliveryId,
      attempt.run,
      attempt.attempt,
      attempt.startedAt,
      attempt.durationMicros,
      attempt.outcome,
      attempt.statusCode ?? null,
      attempt.detail ?? null,
      attempt.responseHeaders,
      Buffer.from(attempt.responseBody),
    ],
  };
}

/**
 * Sets the same values for deliveries (at least one) after an attempt of each. The statement names its index, because
 * MariaDB would lock all deliveries of the account while statistics say that the table is empty.
 */
export function updateAfterAttempt(
  keys: readonly DeliveryKey[],
  { state, attempts, outcome, retryInMicros }: AfterAttempt,
): Statement {
  const { sql, values } = anyDelivery(keys, COLUMNS);
  return {
    sql: `UPDATE delivery FORCE INDEX (PRIMARY) SET state = ?, attempts = ?, last_outcome = ?,
        next_attempt_at = ${NOW_MICROS} + ? WHERE ${sql}`,
    values: [state, attempts, outcome, retryInMicros ?? null, ...values],
  };
}

/** Changes entries of first attempts into workflow entries that can be claimed at once. `runs` is not empty. */
export function turnIntoRetries(runs: readonly RunKey[]): Statement {
  const { sql, values } = anyRun(runs, { account: "account_no", delivery: "delivery_id" });
  return {
    sql: `UPDATE outbox_entry FORCE INDEX (PRIMARY) SET task = ${Task.BeginRetries}, leased_until = NULL, lease_id = NULL
      WHERE ${sql} AND task = ${Task.Attempt}`,
    values,
  };
}
