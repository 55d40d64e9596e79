import { leastIdAt } from "../common/ids.ts";
import type { Micros } from "../common/timestamps.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { DeliveryState, OUTCOMES_IN } from "../dispatch/delivery-state.ts";
import { WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";
import {
  DELIVERY_COLUMNS,
  type DeliveryRecord,
  type DeliveryRow,
  deliveryFromRow,
} from "./delivery-store.ts";

const STATES = Object.values(DeliveryState);
const KINDS = Object.values(WebhookEventKind);

/** Which deliveries of an account to list. */
export type DeliveryFilter = {
  readonly endpointId: string | undefined;
  readonly state: number | undefined;
  readonly kind: number | undefined;
  readonly lastOutcome: number | undefined;
  readonly eventId: string | undefined;
  readonly recordId: string | undefined;
  readonly since: Micros | undefined;
  readonly until: Micros | undefined;
};

type IdRow = RowDataPacket & { id: string };
type Condition = readonly [text: string, ...values: unknown[]];

/** Lists at most `limit` deliveries of an account, newest first, after the one with the id `after`. ADR 0026 */
export async function listDeliveries(
  pool: Pool,
  accountNo: number,
  filter: DeliveryFilter,
  after: string | undefined,
  limit: number,
): Promise<DeliveryRecord[]> {
  const ranges = rangesOf(filter);
  // Lists nothing: no delivery in the requested state can have the requested outcome.
  if (ranges.length === 0) return [];
  const within = withinTimes(accountNo, filter);
  if (after !== undefined) within.push(["id < ?", after]);
  if (filter.recordId !== undefined) {
    const eventIds = await listEventIds(pool, accountNo, filter.recordId);
    if (eventIds.length === 0) return [];
    within.push(["event_id IN (?)", eventIds]);
  }
  const { sql, values } = rangesSql(indexOf(filter), ranges, within, "DESC", limit);
  const rows = await queryWithin<DeliveryRow[]>(
    pool,
    `SELECT ${DELIVERY_COLUMNS} FROM (${sql}) listed
     STRAIGHT_JOIN delivery d ON d.account_no = ? AND d.id = listed.listed_id
     ORDER BY d.id DESC`,
    [...values, accountNo],
  );
  return rows.map(deliveryFromRow);
}

async function listEventIds(pool: Pool, accountNo: number, recordId: string): Promise<string[]> {
  const rows = await queryWithin<IdRow[]>(
    pool,
    "SELECT id FROM webhook_event WHERE account_no = ? AND record_id = ?",
    [accountNo, recordId],
  );
  return rows.map((row) => row.id);
}

/** Selects an endpoint's deliveries by states and time of creation, and by kind and last outcome if they are given. */
export type InStates = Pick<DeliveryFilter, "kind" | "lastOutcome"> & {
  readonly accountNo: number;
  readonly endpointId: string;
  readonly states: readonly DeliveryState[];
  readonly range: { readonly since: Micros; readonly until: Micros };
};

/** Lists the ids of at most `limit` deliveries, oldest first, after the one with the id `after`. */
export async function listInStates(
  pool: Pool,
  asked: InStates,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const ranges = rangesIn(asked);
  if (ranges.length === 0) return [];
  const { sql, values } = inStatesSql(asked, ranges, after, limit);
  const listed = `SELECT listed_id AS id FROM (${sql}) listed`;
  const rows = await queryWithin<IdRow[]>(pool, listed, values);
  return rows.map((row) => row.id);
}

/** Counts the deliveries that `asked` selects, up to `limit`. */
export async function countInStates(pool: Pool, asked: InStates, limit: number): Promise<number> {
  const ranges = rangesIn(asked);
  if (ranges.length === 0) return 0;
  const { sql, values } = inStatesSql(asked, ranges, undefined, limit);
  const counted = `SELECT COUNT(*) AS deliveries FROM (${sql}) listed`;
  type Row = RowDataPacket & { deliveries: number };
  const [row] = await queryWithin<Row[]>(pool, counted, values);
  return row?.deliveries ?? 0;
}

/** Returns the ranges of an index to read: none if no delivery in `states` can have the outcome `lastOutcome`. */
function rangesIn({ endpointId, states, kind, lastOutcome }: InStates) {
  return states.flatMap((state) => rangesOf({ endpointId, state, kind, lastOutcome }));
}

function inStatesSql(
  { accountNo, range }: InStates,
  ranges: readonly (readonly Condition[])[],
  after: string | undefined,
  limit: number,
) {
  const within = withinTimes(accountNo, range);
  if (after !== undefined) within.push(["id > ?", after]);
  return rangesSql("delivery_endpoint_state_kind", ranges, within, "ASC", limit);
}

/** Returns conditions for an account and times. They compare times with ids, which begin with a delivery's time. */
function withinTimes(
  accountNo: number,
  { since, until }: Pick<DeliveryFilter, "since" | "until">,
): Condition[] {
  const within: Condition[] = [["account_no = ?", accountNo]];
  if (since !== undefined) within.push(["id >= ?", leastIdAt(since)]);
  if (until !== undefined) within.push(["id < ?", leastIdAt(until)]);
  return within;
}

/**
 * Returns SQL that gives the first `limit` entries of all ranges. It reads only the index, and at most `limit` entries
 * of each range, because each range is in order.
 */
function rangesSql(
  index: string,
  ranges: readonly (readonly Condition[])[],
  within: readonly Condition[],
  direction: "ASC" | "DESC",
  limit: number,
): { sql: string; values: unknown[] } {
  const conditions = ranges.map((range) => [...within, ...range]);
  const selects = conditions.map(
    (all) =>
      `(SELECT id AS listed_id FROM delivery FORCE INDEX (${index})
        WHERE ${all.map(([text]) => text).join(" AND ")} ORDER BY id ${direction} LIMIT ${limit})`,
  );
  return {
    sql: `SELECT listed_id FROM (${selects.join(" UNION ALL ")}) ranges_read
      ORDER BY listed_id ${direction} LIMIT ${limit}`,
    values: conditions.flat().flatMap(([, ...values]) => values),
  };
}

type IndexedFilter = Partial<Omit<DeliveryFilter, "since" | "until">>;

function indexOf(filter: IndexedFilter): string {
  const { endpointId, state, kind, lastOutcome, eventId, recordId } = filter;
  if (eventId !== undefined || recordId !== undefined) return "delivery_event";
  if (endpointId !== undefined) return "delivery_endpoint_state_kind";
  const named = state ?? kind ?? lastOutcome;
  return named === undefined ? "PRIMARY" : "delivery_state_kind";
}

/**
 * Returns the ranges of `indexOf(filter)` that match the filter: one for each combination of values of the columns that
 * the filter leaves open.
 */
function rangesOf(filter: IndexedFilter): Condition[][] {
  const { endpointId, state, kind, lastOutcome, eventId, recordId } = filter;
  if (indexOf(filter) === "PRIMARY") return [[]];
  const ofEndpoint = equal("endpoint_id", endpointId);
  if (eventId !== undefined || recordId !== undefined) {
    // An event has few deliveries, one per endpoint, so all of them are read.
    const others = [...equal("state", state), ...equal("kind", kind)];
    const ofOutcome = equal("last_outcome", lastOutcome);
    return [[...equal("event_id", eventId), ...ofEndpoint, ...others, ...ofOutcome]];
  }
  const states = STATES.filter((each) => state === undefined || each === state);
  const kinds = KINDS.filter((each) => kind === undefined || each === kind);
  return states.flatMap((ofState) =>
    OUTCOMES_IN[ofState]
      .filter((outcome) => lastOutcome === undefined || outcome === lastOutcome)
      .flatMap((outcome) =>
        kinds.map((ofKind): Condition[] => [
          ...ofEndpoint,
          ["state = ?", ofState],
          ["kind = ?", ofKind],
          outcome === undefined ? ["last_outcome IS NULL"] : ["last_outcome = ?", outcome],
        ]),
      ),
  );
}

function equal(column: string, value: string | number | undefined): Condition[] {
  return value === undefined ? [] : [[`${column} = ?`, value]];
}
