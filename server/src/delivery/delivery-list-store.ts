import type { Queryable, RowDataPacket } from "../database/pool.ts";
import type { Micros } from "../timestamps.ts";
import { DeliveryState, RETRIABLE_STATES } from "./delivery-state.ts";
import {
  DELIVERY_COLUMNS,
  type DeliveryRecord,
  type DeliveryRow,
  deliveryFromRow,
} from "./delivery-store.ts";
import { WebhookEventKind } from "./webhook-event-kind.ts";

const STATES = Object.values(DeliveryState);
const KINDS = Object.values(WebhookEventKind);

/** Where a page of deliveries ended: at this one. */
export type DeliveryPosition = { readonly createdAt: number; readonly deliveryNo: number };

/** Which deliveries of an account to list. */
export type DeliveryFilter = {
  readonly endpointId: string | undefined;
  readonly state: number | undefined;
  readonly kind: number | undefined;
  readonly since: Micros | undefined;
  readonly until: Micros | undefined;
};

type PositionRow = RowDataPacket & { created_at: number; delivery_no: number };
type Condition = readonly [text: string, ...values: unknown[]];

/** Lists at most `most` deliveries of an account behind a position, newest first. ADR 0026 */
export async function listDeliveries(
  db: Queryable,
  accountNo: number,
  filter: DeliveryFilter,
  after: DeliveryPosition | undefined,
  most: number,
): Promise<DeliveryRecord[]> {
  const within: Condition[] = [["account_no = ?", accountNo]];
  const { since, until } = filter;
  if (since !== undefined) within.push(["created_at >= ?", since]);
  if (until !== undefined) within.push(["created_at < ?", until]);
  if (after !== undefined) {
    const { createdAt, deliveryNo } = after;
    within.push(["created_at <= ?", createdAt]);
    within.push(["(created_at < ? OR delivery_no < ?)", createdAt, deliveryNo]);
  }
  const { sql, values } = rangesSql(indexOf(filter), rangesOf(filter), within, "DESC", most);
  const [rows] = await db.query<DeliveryRow[]>(
    `SELECT ${DELIVERY_COLUMNS} FROM (${sql}) listed
     STRAIGHT_JOIN delivery d ON d.delivery_no = listed.delivery_no
     STRAIGHT_JOIN webhook_event e FORCE INDEX (PRIMARY) ON e.event_no = d.event_no
     ORDER BY d.created_at DESC, d.delivery_no DESC`,
    values,
  );
  return rows.map(deliveryFromRow);
}

/** Lists at most `most` deliveries to an endpoint behind a position that can be retried, oldest first. */
export async function listRetriable(
  db: Queryable,
  accountNo: number,
  endpointId: string,
  range: { readonly since: Micros; readonly until: Micros },
  after: DeliveryPosition | undefined,
  most: number,
): Promise<DeliveryPosition[]> {
  const within: Condition[] = [
    ["account_no = ?", accountNo],
    ["created_at >= ?", range.since],
    ["created_at < ?", range.until],
  ];
  if (after !== undefined) {
    const { createdAt, deliveryNo } = after;
    within.push(["created_at >= ?", createdAt]);
    within.push(["(created_at > ? OR delivery_no > ?)", createdAt, deliveryNo]);
  }
  const ranges = RETRIABLE_STATES.flatMap((state) =>
    rangesOf({ endpointId, state, kind: undefined }),
  );
  const { sql, values } = rangesSql("delivery_endpoint_state_kind", ranges, within, "ASC", most);
  const [rows] = await db.query<PositionRow[]>(sql, values);
  return rows.map((row) => ({ createdAt: row.created_at, deliveryNo: row.delivery_no }));
}

/**
 * Reads at most `most` entries of each range of an index, each of which is in order, and nothing but the
 * index; gives the first `most` of all.
 */
function rangesSql(
  index: string,
  ranges: readonly (readonly Condition[])[],
  within: readonly Condition[],
  direction: "ASC" | "DESC",
  most: number,
): { sql: string; values: unknown[] } {
  const order = `ORDER BY created_at ${direction}, delivery_no ${direction} LIMIT ${most}`;
  const conditions = ranges.map((range) => [...within, ...range]);
  const selects = conditions.map(
    (all) =>
      `(SELECT created_at, delivery_no FROM delivery FORCE INDEX (${index})
        WHERE ${all.map(([text]) => text).join(" AND ")} ${order})`,
  );
  return {
    sql: `SELECT created_at, delivery_no FROM (${selects.join(" UNION ALL ")}) ranges_read ${order}`,
    values: conditions.flat().flatMap(([, ...values]) => values),
  };
}

type IndexedFilter = Pick<DeliveryFilter, "endpointId" | "state" | "kind">;

function indexOf({ endpointId, state, kind }: IndexedFilter): string {
  if (endpointId !== undefined) return "delivery_endpoint_state_kind";
  return state === undefined && kind === undefined ? "delivery_account" : "delivery_state_kind";
}

/** The ranges of that index which hold what a filter names: one for each state and kind it leaves open. */
function rangesOf(filter: IndexedFilter): Condition[][] {
  if (indexOf(filter) === "delivery_account") return [[]];
  const { endpointId, state, kind } = filter;
  const ofEndpoint: Condition[] = endpointId === undefined ? [] : [["endpoint_id = ?", endpointId]];
  const states = state === undefined ? STATES : [state];
  const kinds = kind === undefined ? KINDS : [kind];
  return states.flatMap((ofState) =>
    kinds.map((ofKind): Condition[] => [
      ...ofEndpoint,
      ["state = ?", ofState],
      ["kind = ?", ofKind],
    ]),
  );
}
