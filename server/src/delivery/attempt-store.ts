import type { AttemptOutcome } from "@activity/proto";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import type { Sequence } from "./claim-store.ts";
import { DeliveryState, RUNNING_STATES } from "./delivery-state.ts";

/** What is known of one attempt before it is made. */
export type LoadedAttempt = {
  readonly sequence: number;
  readonly state: DeliveryState;
  /** How it ended, when it was made and recorded before. */
  readonly recordedOutcome: AttemptOutcome | undefined;
  readonly eventId: string;
  readonly payload: Buffer;
  readonly endpointId: string;
  /** `undefined` when the endpoint is switched off or deleted. */
  readonly endpoint:
    | { readonly url: string; readonly secret: Buffer; readonly standardWebhooks: boolean }
    | undefined;
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

type LoadedRow = RowDataPacket & {
  sequence: number;
  state: DeliveryState;
  outcome: AttemptOutcome | null;
  event_id: string;
  payload: Buffer;
  endpoint_id: string;
  url: string | null;
  secret: Buffer | null;
  standard_webhooks: number | null;
};

type LockedRow = RowDataPacket & {
  delivery_no: number;
  account_no: number;
  sequence: number;
  state: DeliveryState;
  outcome: AttemptOutcome | null;
};

/** Finds what one attempt needs, in one statement. */
export async function findAttempt(
  pool: Pool,
  deliveryId: string,
  sequence: number,
  attempt: number,
): Promise<LoadedAttempt | undefined> {
  const [rows] = await pool.execute<LoadedRow[]>(
    `SELECT d.sequence, d.state, a.outcome, w.id AS event_id, w.payload, d.endpoint_id, e.url, e.secret,
       e.standard_webhooks
     FROM delivery d
     JOIN webhook_event w ON w.event_no = d.event_no
     LEFT JOIN endpoint e ON e.account_no = d.account_no AND e.id = d.endpoint_id
       AND e.switched_on AND e.deleted_at IS NULL
     LEFT JOIN delivery_attempt a ON a.delivery_no = d.delivery_no AND a.sequence = ? AND a.attempt = ?
     WHERE d.id = ?`,
    [sequence, attempt, deliveryId],
  );
  return rows[0] && loadedAttemptFromRow(rows[0]);
}

/** Locks a delivery until the transaction ends, and tells whether an attempt of it is recorded. */
export async function lockDeliveryForAttempt(
  tx: Transaction,
  deliveryId: string,
  sequence: number,
  attempt: number,
): Promise<LockedDelivery | undefined> {
  const [rows] = await tx.execute<LockedRow[]>(
    `SELECT d.delivery_no, d.account_no, d.sequence, d.state, a.outcome FROM delivery d
     LEFT JOIN delivery_attempt a ON a.delivery_no = d.delivery_no AND a.sequence = ? AND a.attempt = ?
     WHERE d.id = ? FOR UPDATE`,
    [sequence, attempt, deliveryId],
  );
  const row = rows[0];
  return (
    row && {
      deliveryNo: row.delivery_no,
      accountNo: row.account_no,
      sequence: row.sequence,
      state: row.state,
      recordedOutcome: row.outcome ?? undefined,
    }
  );
}

/** Stores an attempt. */
export async function insertAttempt(tx: Transaction, attempt: NewAttempt): Promise<void> {
  await tx.execute(
    `INSERT INTO delivery_attempt (delivery_no, sequence, attempt, account_no, started_at, duration,
       outcome, status_code, detail, response_body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
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
    ],
  );
}

/** Stores what an attempt made of a delivery; the next one is due so long after now. */
export async function updateAfterAttempt(
  tx: Transaction,
  deliveryNo: number,
  after: {
    readonly state: DeliveryState;
    readonly attempts: number;
    readonly outcome: AttemptOutcome;
    readonly retryInMicros: number | undefined;
  },
): Promise<void> {
  await tx.execute(
    `UPDATE delivery SET state = ?, attempts = ?, last_outcome = ?, next_attempt_at = ${NOW_MICROS} + ?
     WHERE delivery_no = ?`,
    [after.state, after.attempts, after.outcome, after.retryInMicros ?? null, deliveryNo],
  );
}

/** Notes that an attempt that was not made yet is made so long after now. */
export async function deferAttempt(
  pool: Pool,
  { deliveryId, sequence }: Sequence,
  attempt: number,
  deferMicros: number,
): Promise<void> {
  await pool.execute(
    `UPDATE delivery SET next_attempt_at = ${NOW_MICROS} + ?
     WHERE id = ? AND sequence = ? AND attempts = ? - 1 AND state = ?`,
    [deferMicros, deliveryId, sequence, attempt, DeliveryState.HandedOver],
  );
}

/** Cancels a sequence that runs. */
export async function cancelSequence(
  tx: Transaction,
  deliveryId: string,
  sequence: number,
): Promise<void> {
  await tx.query(
    `UPDATE delivery SET state = ?, next_attempt_at = NULL
     WHERE id = ? AND sequence = ? AND state IN (?)`,
    [DeliveryState.Canceled, deliveryId, sequence, RUNNING_STATES],
  );
}

function loadedAttemptFromRow(row: LoadedRow): LoadedAttempt {
  const { url, secret, standard_webhooks } = row;
  return {
    sequence: row.sequence,
    state: row.state,
    recordedOutcome: row.outcome ?? undefined,
    eventId: row.event_id,
    payload: row.payload,
    endpointId: row.endpoint_id,
    endpoint:
      url === null || secret === null
        ? undefined
        : { url, secret, standardWebhooks: standard_webhooks === 1 },
  };
}
