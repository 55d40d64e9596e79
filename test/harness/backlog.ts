import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { leastIdAt } from "../../server/src/common/ids.ts";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { webhookPayload } from "../../server/src/webhook-event/webhook-event.ts";
import { WebhookEventKind } from "../../server/src/webhook-event/webhook-event-kind.ts";
import type { TestDatabase } from "./database.ts";

/** Deliveries written straight into the database. Making them through clients takes minutes. */
type Backlog = {
  readonly accountId: string;
  /** The deliveries are spread over them evenly. */
  readonly endpointIds: readonly string[];
  /** At most 100,000. */
  readonly count: number;
};

/** What the database holds of each delivery. */
export type StoredDelivery = {
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Counted from now; absent when no attempt is planned. */
  readonly nextAttemptSeconds?: number;
};

const DIGITS = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(" UNION ALL ");
/** A table of the numbers `n` from 0 to 99,999. */
export const NUMBERS = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
  FROM (${DIGITS}) a, (${DIGITS}) b, (${DIGITS}) c, (${DIGITS}) e, (${DIGITS}) f) numbers`;
const TIME_DIGITS = 10;
/** The last backlog's time, in microseconds since 1970. Each backlog is one event, a microsecond after the previous. */
let lastCreatedAt = 1_600_000_000_000_000;

/** Writes deliveries whose first attempt can be claimed. Returns their ids, oldest first. */
export async function writePending(
  database: TestDatabase,
  backlog: Backlog,
  { leasedForSeconds }: { readonly leasedForSeconds?: number } = {},
): Promise<string[]> {
  const ids = await writeDeliveries(database, backlog, { state: 1, attempts: 0 });
  await database.queryShards(
    `INSERT INTO outbox_entry (account_no, delivery_id, endpoint_id, run, task, leased_until)
     SELECT account_no, id, endpoint_id, run, 1, ${NOW_MICROS} + ? FROM delivery WHERE id BETWEEN ? AND ?`,
    [leasedForSeconds === undefined ? null : leasedForSeconds * 1e6, ids[0], ids.at(-1)],
  );
  return ids;
}

function payloadOf(id: string, recordId: string): Buffer {
  const record = {
    ...{ recordId, amountCents: 500, refundedAmountCents: 0, currency: "eur" },
    ...{ donorName: undefined, message: undefined, paidAt: lastCreatedAt },
  };
  const envelope = { id, createdAtMicros: lastCreatedAt, test: false };
  return webhookPayload(envelope, { kind: WebhookEventKind.DonationCreated, record });
}

/** The outcome of the last attempt of a run that ended in one of these states. */
const ENDED_WITH: Readonly<Record<number, AttemptOutcome | undefined>> = {
  [DeliveryState.DELIVERED]: AttemptOutcome.DELIVERED,
  [DeliveryState.FAILED]: AttemptOutcome.REJECTED,
};

/** Writes deliveries in a given state, without outbox entries. Returns their ids, oldest first. */
export async function writeDeliveries(
  database: TestDatabase,
  { accountId, endpointIds, count }: Backlog,
  { state, attempts, nextAttemptSeconds }: StoredDelivery,
): Promise<string[]> {
  lastCreatedAt += 1;
  const first = leastIdAt(lastCreatedAt);
  const eventId = `wev_${first}`;
  // This runs in every shard. Only one of them has the account.
  await database.queryShards(
    `INSERT INTO webhook_event (account_no, id, payload)
     SELECT account_no, ?, ? FROM account WHERE id = ?`,
    [eventId, payloadOf(eventId, first), accountId],
  );
  await database.queryShards(
    `INSERT INTO delivery (account_no, id, endpoint_id, event_id, kind, test, state, run, attempts,
       last_outcome, next_attempt_at, created_at)
     SELECT w.account_no, CONCAT(?, LPAD(n, 5, '0')), ELT(n % ? + 1, ?), w.id, 1, FALSE, ?, 1, ?,
       ?, ${NOW_MICROS} + ?, ?
     FROM ${NUMBERS} JOIN webhook_event w ON w.id = ? WHERE n < ?`,
    [
      ...[first.slice(0, TIME_DIGITS), endpointIds.length, endpointIds, state, attempts],
      ENDED_WITH[state] ?? null,
      ...[nextAttemptSeconds === undefined ? null : nextAttemptSeconds * 1e6, lastCreatedAt],
      ...[eventId, count],
    ],
  );
  // This asks the shards, because a vtgate returns at most 10,000 rows.
  const rows = await database.queryShards<{ id: string }>(
    "SELECT id FROM delivery WHERE event_id = ? ORDER BY id",
    [eventId],
  );
  return rows.map(({ id }) => id);
}
