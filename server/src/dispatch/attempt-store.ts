import type { AttemptOutcome } from "@activity/proto";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { SIGNING_SECRET } from "../signing-secret/signing-secret-store.ts";
import type { AttemptContent, PastAttempt } from "./claim-store.ts";
import { RUNNING_STATES } from "./delivery-state.ts";
import type { RunKey } from "./run-key.ts";

/** The data of one attempt of a workflow, loaded before the attempt is made. */
export type LoadedAttempt = {
  /** Whether the delivery is in this run and the run has not ended. */
  readonly isRunning: boolean;
  /** Whether this run is later than the delivery's current run. */
  readonly isAhead: boolean;
  /** The attempt's result; `undefined` unless it is recorded. */
  readonly recorded: PastAttempt | undefined;
  /** Time from now until the delivery's next attempt, at least 0; `undefined` if no attempt follows. */
  readonly retryInMicros: number | undefined;
  /** `undefined` if nothing may be sent: the endpoint is off or deleted, or the account is blocked. */
  readonly content: AttemptContent | undefined;
};

type Row = RowDataPacket & {
  is_running: number;
  is_ahead: number;
  outcome: AttemptOutcome | null;
  ended_at: number | null;
  retry_in: number | null;
  event_id: string;
  payload: Buffer | null;
  traceparent: string | null;
  endpoint_id: string;
  url: string | null;
  secret: Buffer | null;
  standard_webhooks: number | null;
};

/** Finds the data of an attempt. Returns `undefined` if its delivery does not exist. */
export async function findAttempt(
  pool: Pool,
  { accountNo, deliveryId, run }: RunKey,
  attempt: number,
): Promise<LoadedAttempt | undefined> {
  const [row] = await queryWithin<Row[]>(
    pool,
    `SELECT d.run = ? AND d.state IN (${RUNNING_STATES.join(", ")}) AS is_running,
       d.run < ? AS is_ahead, p.outcome, p.started_at + p.duration AS ended_at,
       GREATEST(0, d.next_attempt_at - ${NOW_MICROS}) AS retry_in,
       w.id AS event_id, w.payload, w.traceparent, d.endpoint_id,
       e.url, ${SIGNING_SECRET} AS secret, e.standard_webhooks
     FROM delivery d
     JOIN webhook_event w ON w.account_no = d.account_no AND w.id = d.event_id
     LEFT JOIN delivery_attempt p ON p.account_no = d.account_no AND p.delivery_id = d.id
       AND p.run = ? AND p.attempt = ?
     LEFT JOIN account a ON a.account_no = d.account_no AND a.blocked_at IS NULL
     LEFT JOIN endpoint e ON e.account_no = a.account_no AND e.id = d.endpoint_id
       AND e.switched_on AND e.deleted_at IS NULL
     WHERE d.account_no = ? AND d.id = ?`,
    [run, run, run, attempt, accountNo, deliveryId],
  );
  return row && loadedFromRow(row);
}

/** Tells whether an account was deleted, and its deliveries with it. */
export async function isAccountDeleted(pool: Pool, accountNo: number): Promise<boolean> {
  const rows = await queryWithin<RowDataPacket[]>(
    pool,
    "SELECT 1 FROM account WHERE account_no = ? AND deleted_at IS NOT NULL",
    [accountNo],
  );
  return rows.length > 0;
}

/** Sets an attempt that is not recorded to be due in `waitMicros`. A run that has ended stays unchanged. */
export async function rescheduleAttempt(
  pool: Pool,
  { accountNo, deliveryId, run }: RunKey,
  attempt: number,
  waitMicros: number,
): Promise<void> {
  await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE delivery FORCE INDEX (PRIMARY) SET next_attempt_at = ${NOW_MICROS} + ?
     WHERE account_no = ? AND id = ? AND run = ? AND attempts < ? AND state IN (?)`,
    [waitMicros, accountNo, deliveryId, run, attempt, RUNNING_STATES],
  );
}

function loadedFromRow(row: Row): LoadedAttempt {
  const { outcome, ended_at: endedAt, url, secret, payload } = row;
  const { event_id: eventId, endpoint_id: endpointId } = row;
  const standardWebhooks = row.standard_webhooks === 1;
  const traceparent = row.traceparent ?? undefined;
  return {
    isRunning: row.is_running === 1,
    isAhead: row.is_ahead === 1,
    retryInMicros: row.retry_in ?? undefined,
    recorded: outcome === null || endedAt === null ? undefined : { outcome, endedAt },
    content:
      url === null || secret === null || payload === null
        ? undefined
        : { endpointId, url, secret, standardWebhooks, eventId, payload, traceparent },
  };
}
