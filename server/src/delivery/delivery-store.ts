import type { AttemptOutcome } from "@activity/proto";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
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
  readonly responseHeaders: string;
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
  response_headers: string;
  response_body: Buffer;
};

const COLUMNS = [
  ...["id", "endpoint_id", "event_id", "kind", "test", "state", "run", "attempts", "last_outcome"],
  ...["created_at", "next_attempt_at"],
];
/** The columns of a delivery. */
export const DELIVERY_COLUMNS = COLUMNS.join(", ");

/** Finds a delivery of an account. */
export async function findDelivery(
  pool: Pool,
  accountNo: number,
  id: string,
): Promise<DeliveryRecord | undefined> {
  const [row] = await queryWithin<DeliveryRow[]>(
    pool,
    `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE account_no = ? AND id = ?`,
    [accountNo, id],
  );
  return row && deliveryFromRow(row);
}

/** A delivery that an owner asks to send again. */
export type RetriableDelivery = DeliveryRecord & {
  /** Whether the donation was deleted, so that nothing is left to send. */
  readonly isErased: boolean;
};

/**
 * Looks deliveries up by account and id, and locks them. Recording an attempt locks only the delivery, not the account.
 * Without these locks, a retry could therefore send a delivery again that was just recorded as delivered.
 */
export const deliveriesBy = lookupOf<DeliveryRow & { is_erased: number }, RetriableDelivery>({
  // This is a join, because a vtgate drops the lock of a statement with a subquery.
  select: `SELECT d.account_no, ${COLUMNS.map((column) => `d.${column}`).join(", ")},
      e.id IS NOT NULL AND e.payload IS NULL AS is_erased
    FROM delivery d FORCE INDEX (PRIMARY)
    LEFT JOIN webhook_event e ON e.account_no = d.account_no AND e.id = d.event_id`,
  key: ["d.account_no", "d.id"],
  ending: "FOR UPDATE",
  fromRow: (row) => ({ ...deliveryFromRow(row), isErased: row.is_erased === 1 }),
});

/**
 * Begins a new run of deliveries. `ids` must have at least one. A delivery that was removed meanwhile stays
 * removed.
 */
export function beginRuns(accountNo: number, ids: readonly string[]): Statement {
  return {
    sql: `UPDATE delivery FORCE INDEX (PRIMARY) SET state = ?, run = run + 1, attempts = 0,
        last_outcome = NULL, next_attempt_at = NULL WHERE account_no = ? AND id IN (?)`,
    values: [DeliveryState.Pending, accountNo, ids],
  };
}

/** Lists the last attempts of a delivery, at most `limit`, oldest first. */
export async function listLastAttempts(
  pool: Pool,
  accountNo: number,
  deliveryId: string,
  limit: number,
): Promise<AttemptRecord[]> {
  const rows = await queryWithin<AttemptRow[]>(
    pool,
    `SELECT run, attempt, started_at, duration, outcome, status_code, detail, response_headers,
       response_body
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
    responseHeaders: row.response_headers,
    responseBody: row.response_body,
  }));
}

/** Finds the bytes of an event: empty after its donation was deleted, `undefined` if there is no such event. */
export async function findPayload(
  pool: Pool,
  accountNo: number,
  eventId: string,
): Promise<Buffer | undefined> {
  const [row] = await queryWithin<(RowDataPacket & { payload: Buffer | null })[]>(
    pool,
    "SELECT payload FROM webhook_event WHERE account_no = ? AND id = ?",
    [accountNo, eventId],
  );
  return row && (row.payload ?? Buffer.alloc(0));
}

/** Converts a row of `DELIVERY_COLUMNS`. */
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
