import type { AttemptOutcome } from "@activity/proto";
import { NOW_MICROS } from "../database/now.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import type { DeliveryState } from "./delivery-state.ts";
import { Task } from "./outbox-store.ts";
import { anyDelivery, anyRun, type DeliveryKey, type RunKey } from "./run-key.ts";

/** An attempt to store. */
export type NewAttempt = RunKey & {
  readonly attempt: number;
  readonly startedAt: number | bigint;
  readonly durationMicros: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | undefined;
  readonly detail: string | undefined;
  readonly responseBody: Uint8Array;
};

/** A delivery that the transaction has locked. */
export type LockedDelivery = RunKey & {
  readonly state: DeliveryState;
  readonly attempts: number;
};

/** What an attempt makes of its delivery. */
export type AfterAttempt = {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly outcome: AttemptOutcome;
  readonly retryInMicros: number | undefined;
};

type LockedRow = RowDataPacket & {
  account_no: number;
  id: string;
  run: number;
  state: DeliveryState;
  attempts: number;
};

const COLUMNS = { account: "account_no", delivery: "id" };

/** Locks those of the deliveries, at least one, that nobody else has locked. */
export async function lockFreeDeliveries(
  tx: Transaction,
  keys: readonly DeliveryKey[],
): Promise<LockedDelivery[]> {
  const { sql, values } = anyDelivery(keys, COLUMNS);
  const [rows] = await tx.query<LockedRow[]>(
    `SELECT account_no, id, run, state, attempts FROM delivery FORCE INDEX (PRIMARY)
     WHERE ${sql} FOR UPDATE SKIP LOCKED`,
    values,
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    deliveryId: row.id,
    run: row.run,
    state: row.state,
    attempts: row.attempts,
  }));
}

/** Lists those of the deliveries, at least one, that are there, locked by others or not. */
export async function listPresent(
  tx: Transaction,
  keys: readonly DeliveryKey[],
): Promise<DeliveryKey[]> {
  const { sql, values } = anyDelivery(keys, COLUMNS);
  const [rows] = await tx.query<LockedRow[]>(
    `SELECT account_no, id FROM delivery FORCE INDEX (PRIMARY) WHERE ${sql}`,
    values,
  );
  return rows.map((row) => ({ accountNo: row.account_no, deliveryId: row.id }));
}

/** Stores attempts; at least one. One that is stored already stays as it is. */
export async function insertAttempts(
  tx: Transaction,
  attempts: readonly NewAttempt[],
): Promise<void> {
  await tx.query(
    `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
       status_code, detail, response_body)
     VALUES ? ON DUPLICATE KEY UPDATE attempt = VALUES(attempt)`,
    [
      attempts.map((attempt) => [
        attempt.accountNo,
        attempt.deliveryId,
        attempt.run,
        attempt.attempt,
        attempt.startedAt,
        attempt.durationMicros,
        attempt.outcome,
        attempt.statusCode ?? null,
        attempt.detail ?? null,
        Buffer.from(attempt.responseBody),
      ]),
    ],
  );
}

/** Stores what an attempt made of deliveries, at least one, of all the same. */
export async function updateAfterAttempt(
  tx: Transaction,
  keys: readonly DeliveryKey[],
  { state, attempts, outcome, retryInMicros }: AfterAttempt,
): Promise<void> {
  const { sql, values } = anyDelivery(keys, COLUMNS);
  await tx.query(
    `UPDATE delivery SET state = ?, attempts = ?, last_outcome = ?, next_attempt_at = ${NOW_MICROS} + ?
     WHERE ${sql}`,
    [state, attempts, outcome, retryInMicros ?? null, ...values],
  );
}

/** Makes entries whose first attempt failed, at least one, ones whose workflow is to be begun, at once. */
export async function turnIntoRetries(tx: Transaction, runs: readonly RunKey[]): Promise<void> {
  const { sql, values } = anyRun(runs, { account: "account_no", delivery: "delivery_id" });
  await tx.query(
    `UPDATE outbox_entry SET task = ${Task.BeginRetries}, available_at = ${NOW_MICROS}, lease_id = NULL
     WHERE ${sql} AND task = ${Task.Attempt}`,
    values,
  );
}
