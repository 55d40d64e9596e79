import { anyOf } from "../database/any-of.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { Transaction } from "../database/transaction.ts";
import { DeliveryState } from "../dispatch/delivery-state.ts";
import {
  type EndpointHour,
  type EndpointState,
  HEALTH_MICROS,
  KEY_ENDS_WITHIN,
  OVERLAP_ENDS_WITHIN,
} from "./conditions.ts";

/** An endpoint, an API key or a link. */
export type Subject = { readonly accountNo: number; readonly id: string };
/**
 * A subject that may need a notice. Candidates are listed by `at`, in microseconds. A page begins after the last
 * candidate of the page before.
 */
export type Candidate = Subject & { readonly at: number };
/** The stored state of a subject whose account is not deleted. */
export type Owned<State> = State & { readonly accountId: string; readonly id: string };

type CandidateRow = RowDataPacket & { account_no: number; id: string; listed_at: number };
type OwnedRow = RowDataPacket & { account_id: string; id: string };
type EndpointRow = OwnedRow & {
  switched_on: number;
  next_secret_from: number | null;
  has_failed: number;
};
type KeyRow = OwnedRow & { expires_at: number };
type HourRow = RowDataPacket & {
  endpoint_id: string;
  began_at: number;
  delivered: number;
  failed: number;
  failed_runs: number;
};

/** Lists the candidates after a position, in their order. */
export type ListCandidates = (pool: Pool, after: Candidate, limit: number) => Promise<Candidate[]>;

/**
 * Lists endpoints with a failed attempt in an hour that began within the last day. Lists the whole day each time,
 * because an attempt may be recorded long after it failed.
 */
export const listFailedAt = candidatesBy(
  "delivery_stat FORCE INDEX (delivery_stat_failed)",
  { at: "failed_at", id: "endpoint_id" },
  `failed_at > ${NOW_MICROS} - ${HEALTH_MICROS}`,
);

/** Lists endpoints whose old secret stops signing soon or stopped recently. */
export const listSecretEnds = candidatesBy(
  "endpoint FORCE INDEX (endpoint_next_secret)",
  { at: "next_secret_from", id: "id" },
  within("next_secret_from", OVERLAP_ENDS_WITHIN),
);

/** Lists API keys that end soon or ended recently. */
export const listKeyEnds = candidatesBy(
  "api_key FORCE INDEX (api_key_expiry)",
  { at: "expires_at", id: "id" },
  `${within("expires_at", KEY_ENDS_WITHIN)} AND revoked_at IS NULL`,
);

/** Reads the given endpoints (at least one) that are not deleted. */
export async function readEndpoints(
  tx: Transaction,
  subjects: readonly Subject[],
): Promise<Owned<EndpointState>[]> {
  const keys = subjects.map(({ accountNo, id }) => [accountNo, id]);
  const endpoint = anyOf(["e.account_no", "e.id"], keys);
  const [rows] = await tx.query<EndpointRow[]>(
    `SELECT a.id AS account_id, e.id, e.switched_on, e.next_secret_from,
       EXISTS (SELECT 1 FROM delivery d FORCE INDEX (delivery_endpoint_state_kind)
         WHERE d.account_no = e.account_no AND d.endpoint_id = e.id AND d.state = ${DeliveryState.Failed}
           AND d.test = FALSE) AS has_failed
     FROM endpoint e JOIN account a ON a.account_no = e.account_no
     WHERE ${endpoint.sql} AND e.deleted_at IS NULL AND a.deleted_at IS NULL`,
    [...endpoint.values],
  );
  const stat = anyOf(["account_no", "endpoint_id"], keys);
  const [hours] = await tx.query<HourRow[]>(
    `SELECT endpoint_id, began_at, delivered, failed, failed_runs FROM delivery_stat
     WHERE ${stat.sql} AND began_at > ${NOW_MICROS} - ${HEALTH_MICROS} AND began_at <= ${NOW_MICROS}`,
    [...stat.values],
  );
  const byEndpoint = Map.groupBy(hours, (row) => row.endpoint_id);
  return rows.map((row) => ({
    accountId: row.account_id,
    id: row.id,
    switchedOn: row.switched_on === 1,
    nextSecretFrom: row.next_secret_from ?? undefined,
    hasFailed: row.has_failed === 1,
    hours: (byEndpoint.get(row.id) ?? []).map(hourFromRow),
  }));
}

/** Reads the given API keys (at least one) that are not revoked. */
export async function readKeys(
  tx: Transaction,
  subjects: readonly Subject[],
): Promise<Owned<{ readonly expiresAt: number }>[]> {
  const key = anyOf(
    ["k.account_no", "k.id"],
    subjects.map(({ accountNo, id }) => [accountNo, id]),
  );
  const [rows] = await tx.query<KeyRow[]>(
    `SELECT a.id AS account_id, k.id, k.expires_at
     FROM api_key k JOIN account a ON a.account_no = k.account_no
     WHERE ${key.sql} AND k.revoked_at IS NULL AND a.deleted_at IS NULL`,
    [...key.values],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    id: row.id,
    expiresAt: row.expires_at,
  }));
}

function candidatesBy(
  table: string,
  { at, id }: { readonly at: string; readonly id: string },
  condition: string,
): ListCandidates {
  return async (pool, after, limit) => {
    const rows = await queryWithin<CandidateRow[]>(
      pool,
      `SELECT account_no, ${id} AS id, ${at} AS listed_at FROM ${table}
       WHERE ${condition}
         AND (${at} > ? OR ${at} = ? AND (account_no > ? OR account_no = ? AND ${id} > ?))
       ORDER BY ${at}, account_no, ${id} LIMIT ${limit}`,
      [after.at, after.at, after.accountNo, after.accountNo, after.id],
    );
    return rows.map((row) => ({ accountNo: row.account_no, id: row.id, at: row.listed_at }));
  };
}

function within(column: string, near: { readonly before: number; readonly after: number }): string {
  return `${column} > ${NOW_MICROS} - ${near.after} AND ${column} <= ${NOW_MICROS} + ${near.before}`;
}

function hourFromRow(row: HourRow): EndpointHour {
  return {
    beganAt: row.began_at,
    delivered: row.delivered,
    failed: row.failed,
    failedRuns: row.failed_runs,
  };
}
