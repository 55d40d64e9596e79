import type { Change, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
import { SIGNING_SECRET } from "../signing-secret/signing-secret-store.ts";
import type { NewWebhookEvent, ReceivingEndpoint } from "./new-webhook-event.ts";

type EndpointRow = RowDataPacket & {
  id: string;
  kinds: number;
  url: string;
  secret: Buffer;
  standard_webhooks: number;
  min_amount_cents: number;
  switched_on: number;
};

/** Looks up the endpoints of accounts, except deleted ones. Includes endpoints that are switched off. */
export const receivingEndpointsOf = lookupOf<EndpointRow, ReceivingEndpoint>({
  select: `SELECT account_no, id, kinds, url, ${SIGNING_SECRET} AS secret, standard_webhooks,
      min_amount_cents, switched_on
    FROM endpoint`,
  key: ["account_no"],
  ending: "AND deleted_at IS NULL",
  fromRow: (row) => ({
    id: row.id,
    kinds: row.kinds,
    url: row.url,
    secret: row.secret,
    standardWebhooks: row.standard_webhooks === 1,
    minAmountCents: row.min_amount_cents,
    switchedOn: row.switched_on === 1,
  }),
});

const WEBHOOK_EVENT: Table = {
  insert: "INSERT INTO webhook_event (account_no, id, record_id, payload, traceparent)",
};
const DELIVERY: Table = {
  insert: `INSERT INTO delivery
    (account_no, id, endpoint_id, event_id, kind, test, state, run, created_at)`,
};

/** Stores an event with its deliveries. If `traceparent` names a sampled span, their attempts are part of its trace. */
export function storeWebhookEvent(
  accountNo: number,
  event: NewWebhookEvent,
  traceparent: string | undefined,
): Change[] {
  const { id: eventId, kind, test, createdAtMicros, recordId, payload, deliveries } = event;
  return [
    {
      into: WEBHOOK_EVENT,
      row: [accountNo, eventId, recordId ?? null, payload, traceparent ?? null],
    },
    ...deliveries.map(({ id, endpoint, isPaused }) => {
      const state = isPaused ? DeliveryState.Paused : DeliveryState.Pending;
      const row = [accountNo, id, endpoint.id, eventId, kind, test, state, 1, createdAtMicros];
      return { into: DELIVERY, row };
    }),
  ];
}

const DELIVERIES_OF_RECORD = `webhook_event e
  STRAIGHT_JOIN delivery d FORCE INDEX (delivery_event)
    ON d.account_no = e.account_no AND d.event_id = e.id`;

/**
 * Erases the event data of a donation and the receivers' answers to it. Deliveries that have not succeeded get no
 * further attempt. Attempts in flight end normally.
 */
export function eraseWebhookEvents(accountNo: number, recordId: string): Statement[] {
  const values = [accountNo, recordId];
  return [
    `UPDATE ${DELIVERIES_OF_RECORD} SET d.state = ${DeliveryState.Erased}, d.next_attempt_at = NULL
     WHERE e.account_no = ? AND e.record_id = ? AND d.state <> ${DeliveryState.Delivered}`,
    `UPDATE ${DELIVERIES_OF_RECORD}
     STRAIGHT_JOIN delivery_attempt a ON a.account_no = d.account_no AND a.delivery_id = d.id
     SET a.response_headers = '', a.response_body = '' WHERE e.account_no = ? AND e.record_id = ?`,
    `DELETE o FROM ${DELIVERIES_OF_RECORD}
     STRAIGHT_JOIN outbox_entry o ON o.account_no = d.account_no AND o.delivery_id = d.id
     WHERE e.account_no = ? AND e.record_id = ?`,
    "UPDATE webhook_event SET payload = NULL WHERE account_no = ? AND record_id = ?",
  ].map((sql) => ({ sql, values }));
}
