import { NOW_MICROS } from "../database/now.ts";
import type { ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import type { DeliveryState } from "./delivery-state.ts";
import type { WebhookEventKind } from "./webhook-event-kind.ts";

/** An endpoint as an event sees it. */
export type ReceivingEndpoint = {
  readonly id: string;
  readonly kinds: number;
  readonly switchedOn: boolean;
  /** The database's clock when it was read. */
  readonly nowMicros: number;
};

/** A webhook event to store. */
export type NewWebhookEvent = {
  readonly accountNo: number;
  readonly id: string;
  readonly kind: WebhookEventKind;
  readonly createdAtMicros: number;
  readonly payload: Buffer;
};

/** A delivery to store. */
export type NewDelivery = {
  readonly id: string;
  readonly accountNo: number;
  readonly endpointId: string;
  readonly eventNo: number;
  readonly kind: WebhookEventKind;
  readonly test: boolean;
  readonly state: DeliveryState;
  readonly createdAtMicros: number;
};

/** A sequence that the workflow engine is to be told of. */
export type NewOutboxEntry = {
  readonly deliveryNo: number;
  readonly accountNo: number;
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly sequence: number;
  /** The attempt that is due of a sequence that the workflow engine lost. */
  readonly goOnFrom?: number;
};

type EndpointRow = RowDataPacket & {
  id: string;
  kinds: number;
  switched_on: number;
  now_micros: number;
};

/** Lists the endpoints of an account that an event can go to, those switched off included. */
export async function listReceivingEndpoints(
  tx: Transaction,
  accountNo: number,
): Promise<ReceivingEndpoint[]> {
  const [rows] = await tx.execute<EndpointRow[]>(
    `SELECT id, kinds, switched_on, ${NOW_MICROS} AS now_micros FROM endpoint
     WHERE account_no = ? AND deleted_at IS NULL`,
    [accountNo],
  );
  return rows.map((row) => ({
    id: row.id,
    kinds: row.kinds,
    switchedOn: row.switched_on === 1,
    nowMicros: row.now_micros,
  }));
}

/** Stores an event and returns its number. */
export async function insertWebhookEvent(tx: Transaction, event: NewWebhookEvent): Promise<number> {
  const [result] = await tx.execute<ResultSetHeader>(
    "INSERT INTO webhook_event (account_no, id, kind, created_at, payload) VALUES (?, ?, ?, ?, ?)",
    [event.accountNo, event.id, event.kind, event.createdAtMicros, event.payload],
  );
  return result.insertId;
}

/** Stores a delivery of the first sequence and returns its number. */
export async function insertDelivery(tx: Transaction, delivery: NewDelivery): Promise<number> {
  const [result] = await tx.execute<ResultSetHeader>(
    `INSERT INTO delivery (id, account_no, endpoint_id, event_no, kind, test, state, sequence, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)`,
    [
      delivery.id,
      delivery.accountNo,
      delivery.endpointId,
      delivery.eventNo,
      delivery.kind,
      delivery.test,
      delivery.state,
      delivery.createdAtMicros,
    ],
  );
  return result.insertId;
}

/**
 * Puts sequences into the outbox, at least one. An entry that is still there belongs to an earlier
 * sequence of the delivery, which has ended.
 */
export async function insertOutboxEntries(
  tx: Transaction,
  entries: readonly NewOutboxEntry[],
): Promise<void> {
  await tx.query(
    `INSERT INTO outbox_entry
       (delivery_no, account_no, endpoint_id, delivery_id, sequence, go_on_from, claimable_at)
     VALUES ?
     ON DUPLICATE KEY UPDATE sequence = VALUES(sequence), go_on_from = VALUES(go_on_from),
       claimable_at = VALUES(claimable_at)`,
    [
      entries.map((entry) => [
        entry.deliveryNo,
        entry.accountNo,
        entry.endpointId,
        entry.deliveryId,
        entry.sequence,
        entry.goOnFrom ?? null,
        CLAIMABLE_AT_ONCE,
      ]),
    ],
  );
}

const CLAIMABLE_AT_ONCE = 0;
