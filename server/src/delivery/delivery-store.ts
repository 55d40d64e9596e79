import type { AttemptOutcome } from "@activity/proto";
import type { Queryable, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState, RETRIABLE_STATES } from "../dispatch/delivery-state.ts";
import type { WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";

/** A stored delivery. */
export type DeliveryRecord = {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly kind: WebhookEventKind;
  readonly test: boolean;
  readonly state: DeliveryState;
  readonly run: number;
  readonly attempts: number;
  readonly lastOutcome: AttemptOutcome | undefined;
  readonly createdAt: number;
  readonly nextAttemptAt: number | undefined;
};

/** A stored attempt. */
export type AttemptRecord = {
  readonly run: number;
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
  id: string;
  endpoint_id: string;
  event_id: string;
  kind: WebhookEventKind;
  test: number;
  state: DeliveryState;
  run: number;
  attempts: number;
  last_outcome: AttemptOutcome | null;
  created_at: number;
  next_attempt_at: number | null;
};

type AttemptRow = RowDataPacket & {
  run: number;
  attempt: number;
  started_at: number;
  duration: number;
  outcome: AttemptOutcome;
  status_code: number | null;
  detail: string | null;
  response_body: Buffer;
};

/** The columns of a delivery. */
export const DELIVERY_COLUMNS = `id, endpoint_id, event_id, kind, test, state, run, attempts, last_outcome,
  created_at, next_attempt_at`;

/** Finds a delivery of an account. */
export async function findDelivery(
  db: Queryable,
  accountNo: number,
  id: string,
): Promise<DeliveryRecord | undefined> {
  const [rows] = await db.execute<DeliveryRow[]>(
    `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE account_no = ? AND id = ?`,
    [accountNo, id],
  );
  return rows[0] && deliveryFromRow(rows[0]);
}

/** Locks a delivery of an account until the transaction ends. */
export async function lockDelivery(
  tx: Transaction,
  accountNo: number,
  id: string,
): Promise<DeliveryRecord | undefined> {
  const [rows] = await tx.execute<DeliveryRow[]>(
    `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE account_no = ? AND id = ? FOR UPDATE`,
    [accountNo, id],
  );
  return rows[0] && deliveryFromRow(rows[0]);
}

/** Locks those of the deliveries, at least one, that can be retried. */
export async function lockRetriableDeliveries(
  tx: Transaction,
  accountNo: number,
  ids: readonly string[],
): Promise<DeliveryRecord[]> {
  const [rows] = await tx.query<DeliveryRow[]>(
    `SELECT ${DELIVERY_COLUMNS} FROM delivery FORCE INDEX (PRIMARY)
     WHERE account_no = ? AND id IN (?) AND state IN (?) FOR UPDATE`,
    [accountNo, ids, RETRIABLE_STATES],
  );
  return rows.map(deliveryFromRow);
}

/** Begins a new run of deliveries that the transaction has locked; at least one. */
export async function beginRuns(
  tx: Transaction,
  accountNo: number,
  ids: readonly string[],
): Promise<void> {
  await tx.query(
    `UPDATE delivery SET state = ?, run = run + 1, attempts = 0, last_outcome = NULL,
       next_attempt_at = NULL WHERE account_no = ? AND id IN (?)`,
    [DeliveryState.Pending, accountNo, ids],
  );
}

/** Lists the last attempts of a delivery, at most `limit`, oldest first. */
export async function listLastAttempts(
  db: Queryable,
  accountNo: number,
  deliveryId: string,
  limit: number,
): Promise<AttemptRecord[]> {
  const [rows] = await db.execute<AttemptRow[]>(
    `SELECT run, attempt, started_at, duration, outcome, status_code, detail, response_body
     FROM delivery_attempt WHERE account_no = ? AND delivery_id = ?
     ORDER BY run DESC, attempt DESC LIMIT ${limit}`,
    [accountNo, deliveryId],
  );
  return rows.toReversed().map((row) => ({
    run: row.run,
    attempt: row.attempt,
    startedAt: row.started_at,
    durationMicros: row.duration,
    outcome: row.outcome,
    statusCode: row.status_code ?? undefined,
    detail: row.detail ?? undefined,
    responseBody: row.response_body,
  }));
}

/** Finds the bytes of an event; none are left once the donation was deleted that it tells of. */
export async function findPayload(
  db: Queryable,
  accountNo: number,
  eventId: string,
): Promise<Buffer | undefined> {
  const [rows] = await db.execute<(RowDataPacket & { payload: Buffer | null })[]>(
    "SELECT payload FROM webhook_event WHERE account_no = ? AND id = ?",
    [accountNo, eventId],
  );
  return rows[0] && (rows[0].payload ?? Buffer.alloc(0));
}

/** Reads a row of `DELIVERY_COLUMNS`. */
export function deliveryFromRow(row: DeliveryRow): DeliveryRecord {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    kind: row.kind,
    test: row.test === 1,
    state: row.state,
    run: row.run,
    attempts: row.attempts,
    lastOutcome: row.last_outcome ?? undefined,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at ?? undefined,
  };
}
