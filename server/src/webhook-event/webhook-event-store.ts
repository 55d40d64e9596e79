import { NOW_MICROS } from "../database/now.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
import type { WebhookEventKind } from "./webhook-event-kind.ts";

/** An endpoint as an event sees it. */
export type ReceivingEndpoint = {
  readonly id: string;
  readonly kinds: number;
  readonly url: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly standardWebhooks: boolean;
  /** Whether events are sent to it: it is switched on, and its account not blocked. */
  readonly isOn: boolean;
  /** The database's clock when it was read. */
  readonly nowMicros: number;
};

/** A webhook event to store. */
export type NewWebhookEvent = {
  readonly accountNo: number;
  readonly id: string;
  readonly kind: WebhookEventKind;
  readonly createdAtMicros: number;
  /** The donation that it tells of; none of a test. */
  readonly recordId: string | undefined;
  readonly payload: Buffer;
};

/** A delivery to store, its first run. */
export type NewDelivery = {
  readonly accountNo: number;
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly kind: WebhookEventKind;
  readonly test: boolean;
  readonly state: DeliveryState;
  readonly createdAtMicros: number;
};

type EndpointRow = RowDataPacket & {
  id: string;
  kinds: number;
  url: string;
  secret: Buffer;
  standard_webhooks: number;
  is_on: number;
  now_micros: number;
};

/** Lists the endpoints of an account that an event can go to, those switched off included. */
export async function listReceivingEndpoints(
  tx: Transaction,
  accountNo: number,
): Promise<ReceivingEndpoint[]> {
  const [rows] = await tx.execute<EndpointRow[]>(
    `SELECT e.id, e.kinds, e.url, e.secret, e.standard_webhooks,
       e.switched_on AND a.blocked_at IS NULL AS is_on, ${NOW_MICROS} AS now_micros
     FROM account a JOIN endpoint e ON e.account_no = a.account_no
     WHERE a.account_no = ? AND e.deleted_at IS NULL`,
    [accountNo],
  );
  return rows.map((row) => ({
    id: row.id,
    kinds: row.kinds,
    url: row.url,
    secret: row.secret,
    standardWebhooks: row.standard_webhooks === 1,
    isOn: row.is_on === 1,
    nowMicros: row.now_micros,
  }));
}

/** Stores events; at least one. */
export async function insertWebhookEvents(
  tx: Transaction,
  events: readonly NewWebhookEvent[],
): Promise<void> {
  await tx.query(
    "INSERT INTO webhook_event (account_no, id, kind, created_at, record_id, payload) VALUES ?",
    [
      events.map(({ accountNo, id, kind, createdAtMicros, recordId, payload }) => [
        ...[accountNo, id, kind, createdAtMicros, recordId ?? null, payload],
      ]),
    ],
  );
}

/** Stores deliveries; at least one. */
export async function insertDeliveries(
  tx: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await tx.query(
    `INSERT INTO delivery (account_no, id, endpoint_id, event_id, kind, test, state, run, created_at)
     VALUES ?`,
    [
      deliveries.map((delivery) => [
        delivery.accountNo,
        delivery.id,
        delivery.endpointId,
        delivery.eventId,
        delivery.kind,
        delivery.test,
        delivery.state,
        1,
        delivery.createdAtMicros,
      ]),
    ],
  );
}

/**
 * Erases what the events of a donation say, and what receivers answered to them; what was not delivered yet
 * never is. The attempts in flight end as they do.
 */
export async function eraseWebhookEvents(
  tx: Transaction,
  accountNo: number,
  recordId: string,
): Promise<void> {
  const [events] = await tx.execute<(RowDataPacket & { id: string })[]>(
    "SELECT id FROM webhook_event WHERE account_no = ? AND record_id = ?",
    [accountNo, recordId],
  );
  const eventIds = events.map(({ id }) => id);
  if (eventIds.length === 0) return;
  const [deliveries] = await tx.query<(RowDataPacket & { id: string })[]>(
    "SELECT id FROM delivery WHERE account_no = ? AND event_id IN (?) FOR UPDATE",
    [accountNo, eventIds],
  );
  const deliveryIds = deliveries.map(({ id }) => id);
  await tx.query("UPDATE webhook_event SET payload = NULL WHERE account_no = ? AND id IN (?)", [
    accountNo,
    eventIds,
  ]);
  if (deliveryIds.length === 0) return;
  await tx.query(
    `UPDATE delivery SET state = ${DeliveryState.Erased}, next_attempt_at = NULL
     WHERE account_no = ? AND id IN (?) AND state <> ${DeliveryState.Delivered}`,
    [accountNo, deliveryIds],
  );
  await tx.query(
    "UPDATE delivery_attempt SET response_body = '' WHERE account_no = ? AND delivery_id IN (?)",
    [accountNo, deliveryIds],
  );
  await tx.query("DELETE FROM outbox_entry WHERE account_no = ? AND delivery_id IN (?)", [
    accountNo,
    deliveryIds,
  ]);
}
