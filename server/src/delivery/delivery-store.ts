import type { AttemptOutcome } from "@activity/proto";
import type { Queryable, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState, RETRIABLE_STATES } from "./delivery-state.ts";
import type { WebhookEventKind } from "./webhook-event-kind.ts";

/** A stored delivery. */
export type DeliveryRecord = {
  readonly deliveryNo: number;
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly kind: WebhookEventKind;
  readonly test: boolean;
  readonly state: DeliveryState;
  readonly sequence: number;
  readonly attempts: number;
  readonly lastOutcome: AttemptOutcome | undefined;
  readonly createdAt: number;
  readonly nextAttemptAt: number | undefined;
};

/** A stored attempt. */
export type AttemptRecord = {
  readonly sequence: number;
  readonly attempt: number;
  readonly startedAt: number;
  readonly durationMicros: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | undefined;
  readonly detail: string | undefined;
  readonly responseBody: Buffer;
};

/** A row of `DELIVERY_COLUMNS`. */
export type DeliveryRow = RowDataPacket & {
  delivery_no: number;
  id: string;
  endpoint_id: string;
  event_id: string;
  kind: WebhookEventKind;
  test: number;
  state: DeliveryState;
  sequence: number;
  attempts: number;
  last_outcome: AttemptOutcome | null;
  created_at: number;
  next_attempt_at: number | null;
};

type AttemptRow = RowDataPacket & {
  sequence: number;
  attempt: number;
  started_at: number;
  duration: number;
  outcome: AttemptOutcome;
  status_code: number | null;
  detail: string | null;
  response_body: Buffer;
};

/** The columns of a delivery `d` of an event `e`. */
export const DELIVERY_COLUMNS = `d.delivery_no, d.id, d.endpoint_id, e.id AS event_id, d.kind, d.test,
  d.state, d.sequence, d.attempts, d.last_outcome, d.created_at, d.next_attempt_at`;

// From the delivery to its event by number: a statement that locks would else scan, and lock, what others have.
const DELIVERIES = `SELECT ${DELIVERY_COLUMNS}
  FROM delivery d STRAIGHT_JOIN webhook_event e FORCE INDEX (PRIMARY) ON e.event_no = d.event_no`;

/** Finds a delivery of an account. */
export async function findDelivery(
  db: Queryable,
  accountNo: number,
  id: string,
): Promise<DeliveryRecord | undefined> {
  const [rows] = await db.execute<DeliveryRow[]>(
    `${DELIVERIES} WHERE d.id = ? AND d.account_no = ?`,
    [id, accountNo],
  );
  return rows[0] && deliveryFromRow(rows[0]);
}

/** Locks a delivery of an account until the transaction ends. */
export async function lockDelivery(
  tx: Transaction,
  accountNo: number,
  id: string,
): Promise<DeliveryRecord | undefined> {
  // The event is only read: its row is locked with the delivery's and changed by nobody.
  const [rows] = await tx.execute<DeliveryRow[]>(
    `${DELIVERIES} WHERE d.id = ? AND d.account_no = ? FOR UPDATE`,
    [id, accountNo],
  );
  return rows[0] && deliveryFromRow(rows[0]);
}

/** Locks those of the deliveries, at least one, that can be retried. */
export async function lockRetriableDeliveries(
  tx: Transaction,
  deliveryNos: readonly number[],
): Promise<DeliveryRecord[]> {
  const [rows] = await tx.query<DeliveryRow[]>(
    `SELECT ${DELIVERY_COLUMNS} FROM delivery d FORCE INDEX (PRIMARY)
     STRAIGHT_JOIN webhook_event e FORCE INDEX (PRIMARY) ON e.event_no = d.event_no
     WHERE d.delivery_no IN (?) AND d.state IN (?) FOR UPDATE`,
    [deliveryNos, RETRIABLE_STATES],
  );
  return rows.map(deliveryFromRow);
}

/** Begins a new sequence of deliveries that the transaction has locked; at least one. */
export async function beginSequences(
  tx: Transaction,
  deliveryNos: readonly number[],
): Promise<void> {
  await tx.query(
    `UPDATE delivery SET state = ?, sequence = sequence + 1, attempts = 0, last_outcome = NULL,
       next_attempt_at = NULL WHERE delivery_no IN (?)`,
    [DeliveryState.Waiting, deliveryNos],
  );
}

/** Lists the last attempts of a delivery, at most `most`, oldest first. */
export async function listLastAttempts(
  db: Queryable,
  deliveryNo: number,
  most: number,
): Promise<AttemptRecord[]> {
  const [rows] = await db.execute<AttemptRow[]>(
    `SELECT sequence, attempt, started_at, duration, outcome, status_code, detail, response_body
     FROM delivery_attempt WHERE delivery_no = ? ORDER BY sequence DESC, attempt DESC LIMIT ${most}`,
    [deliveryNo],
  );
  return rows.toReversed().map((row) => ({
    sequence: row.sequence,
    attempt: row.attempt,
    startedAt: row.started_at,
    durationMicros: row.duration,
    outcome: row.outcome,
    statusCode: row.status_code ?? undefined,
    detail: row.detail ?? undefined,
    responseBody: row.response_body,
  }));
}

/** Reads the bytes that a delivery sends. */
export async function readPayload(db: Queryable, deliveryNo: number): Promise<Buffer | undefined> {
  const [rows] = await db.execute<(RowDataPacket & { payload: Buffer })[]>(
    `SELECT e.payload FROM delivery d JOIN webhook_event e ON e.event_no = d.event_no
     WHERE d.delivery_no = ?`,
    [deliveryNo],
  );
  return rows[0]?.payload;
}

/** Reads a row of `DELIVERY_COLUMNS`. */
export function deliveryFromRow(row: DeliveryRow): DeliveryRecord {
  return {
    deliveryNo: row.delivery_no,
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    kind: row.kind,
    test: row.test === 1,
    state: row.state,
    sequence: row.sequence,
    attempts: row.attempts,
    lastOutcome: row.last_outcome ?? undefined,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at ?? undefined,
  };
}
