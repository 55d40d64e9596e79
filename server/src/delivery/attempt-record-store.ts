import type { AttemptOutcome } from "@activity/proto";
import { NOW_MICROS } from "../database/now.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import type { DeliveryState } from "./delivery-state.ts";

/** One attempt of one sequence. */
export type AttemptKey = {
  readonly deliveryId: string;
  readonly sequence: number;
  readonly attempt: number;
};

/** A delivery that the transaction has locked. */
export type LockedDelivery = {
  readonly deliveryNo: number;
  readonly accountNo: number;
  readonly sequence: number;
  readonly state: DeliveryState;
  /** How the attempt in question ended, when it was recorded before. */
  readonly recordedOutcome: AttemptOutcome | undefined;
};

/** An attempt to store. */
export type NewAttempt = {
  readonly deliveryNo: number;
  readonly accountNo: number;
  readonly sequence: number;
  readonly attempt: number;
  readonly startedAt: number | bigint;
  readonly durationMicros: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | undefined;
  readonly detail: string | undefined;
  readonly responseBody: Uint8Array;
};

/** What an attempt makes of its delivery. */
export type AfterAttempt = {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly outcome: AttemptOutcome;
  readonly retryInMicros: number | undefined;
};

type LockedRow = RowDataPacket & {
  id: string;
  delivery_no: number;
  account_no: number;
  sequence: number;
  state: DeliveryState;
  outcome: AttemptOutcome | null;
};

/**
 * Locks deliveries until the transaction ends, always in the same order, and tells whether an attempt of
 * each is recorded. At least one, and none twice.
 */
export async function lockDeliveriesForAttempts(
  tx: Transaction,
  keys: readonly AttemptKey[],
): Promise<ReadonlyMap<string, LockedDelivery>> {
  const [rows] = await tx.query<LockedRow[]>(
    `SELECT d.id, d.delivery_no, d.account_no, d.sequence, d.state, a.outcome
     FROM delivery d FORCE INDEX (delivery_id)
     LEFT JOIN delivery_attempt a ON a.delivery_no = d.delivery_no
       AND (d.id, a.sequence, a.attempt) IN (?)
     WHERE d.id IN (?) ORDER BY d.id FOR UPDATE`,
    [
      keys.map(({ deliveryId, sequence, attempt }) => [deliveryId, sequence, attempt]),
      keys.map(({ deliveryId }) => deliveryId),
    ],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        deliveryNo: row.delivery_no,
        accountNo: row.account_no,
        sequence: row.sequence,
        state: row.state,
        recordedOutcome: row.outcome ?? undefined,
      },
    ]),
  );
}

/** Stores attempts; at least one. */
export async function insertAttempts(
  tx: Transaction,
  attempts: readonly NewAttempt[],
): Promise<void> {
  await tx.query(
    `INSERT INTO delivery_attempt (delivery_no, sequence, attempt, account_no, started_at, duration,
       outcome, status_code, detail, response_body)
     VALUES ?`,
    [
      attempts.map((attempt) => [
        attempt.deliveryNo,
        attempt.sequence,
        attempt.attempt,
        attempt.accountNo,
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

/** Stores what an attempt made of deliveries, of all the same; the next one is due so long after now. */
export async function updateAfterAttempt(
  tx: Transaction,
  deliveryNos: readonly number[],
  { state, attempts, outcome, retryInMicros }: AfterAttempt,
): Promise<void> {
  await tx.query(
    `UPDATE delivery SET state = ?, attempts = ?, last_outcome = ?, next_attempt_at = ${NOW_MICROS} + ?
     WHERE delivery_no IN (?)`,
    [state, attempts, outcome, retryInMicros ?? null, deliveryNos],
  );
}
