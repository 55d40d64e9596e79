import type { AttemptOutcome } from "@activity/proto";
import { withDeadline } from "../database/deadline.ts";
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
  /** How long after now the one behind a recorded attempt is due; `undefined` when none is. */
  readonly retryInMicros: number | undefined;
  readonly eventId: string;
  readonly payload: Buffer;
  readonly endpointId: string;
  /** `undefined` when the endpoint is switched off or deleted. */
  readonly endpoint:
    | { readonly url: string; readonly secret: Buffer; readonly standardWebhooks: boolean }
    | undefined;
};

type LoadedRow = RowDataPacket & {
  id: string;
  sequence: number;
  state: DeliveryState;
  outcome: AttemptOutcome | null;
  retry_in: number | null;
  event_id: string;
  payload: Buffer;
  endpoint_id: string;
  url: string | null;
  secret: Buffer | null;
  standard_webhooks: number | null;
};

/** All who load wait for the statement that is under way. */
const DEADLINE_MS = 10_000;

/** Finds, by delivery, what the same attempt of the same sequence of some deliveries needs; at least one. */
export async function findAttempts(
  pool: Pool,
  deliveryIds: readonly string[],
  sequence: number,
  attempt: number,
): Promise<ReadonlyMap<string, LoadedAttempt>> {
  const sql = `SELECT d.id, d.sequence, d.state, a.outcome, GREATEST(0, d.next_attempt_at - ${NOW_MICROS}) AS retry_in,
      w.id AS event_id, w.payload, d.endpoint_id, e.url, e.secret, e.standard_webhooks
    FROM delivery d FORCE INDEX (delivery_id)
    STRAIGHT_JOIN webhook_event w FORCE INDEX (PRIMARY) ON w.event_no = d.event_no
    LEFT JOIN endpoint e ON e.account_no = d.account_no AND e.id = d.endpoint_id
      AND e.switched_on AND e.deleted_at IS NULL
    LEFT JOIN delivery_attempt a ON a.delivery_no = d.delivery_no AND a.sequence = ? AND a.attempt = ?
    WHERE d.id IN (?)`;
  const rows = await withDeadline<LoadedRow[]>(pool, DEADLINE_MS, (connection, answer) =>
    connection.query(sql, [sequence, attempt, deliveryIds], answer),
  );
  return new Map(rows.map((row) => [row.id, loadedAttemptFromRow(row)]));
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
    retryInMicros: row.retry_in ?? undefined,
    eventId: row.event_id,
    payload: row.payload,
    endpointId: row.endpoint_id,
    endpoint:
      url === null || secret === null
        ? undefined
        : { url, secret, standardWebhooks: standard_webhooks === 1 },
  };
}
