import type { Micros } from "../common/timestamps.ts";
import type { Table } from "../database/change.ts";
import type { FeedChange } from "../write/write.ts";
import type { ActivityType, Unit } from "./activity-values.ts";

/** The primary key of a feed row, which is also its position in the feed's order. */
export type ActivityKey = {
  readonly accountNo: number;
  readonly recordedAt: number;
  /** `donationRecordKey` or `platformEventRecordKey` returns it. */
  readonly recordKey: string;
};

/** A row of the feed. */
export type ActivityRecord = ActivityKey & {
  readonly type: ActivityType;
  readonly platform: number;
  readonly unit: Unit;
  readonly value: number;
  readonly occurredAt: Micros;
  readonly currency: string | undefined;
  /** Set only for platform `service`. */
  readonly refundedAmountCents: number | undefined;
  readonly actorName: string | undefined;
  readonly message: string | undefined;
};

/** Returns the record key of a donation. Its public id begins with `don_`. */
export const donationRecordKey = (recordId: string) => `${recordId}d`;
/** Returns the record key of a platform event. Its public id begins with `evt_`. */
export const platformEventRecordKey = (recordId: string) => `${recordId}e`;

const ACTIVITY: Table = {
  insert: `INSERT INTO activity (account_no, recorded_at, record_key, type, platform, unit, value,
    occurred_at, currency, refunded_amount_cents, actor_name, message)`,
};

/** Shows a record in the feed. */
export function showActivity(activity: ActivityRecord): FeedChange {
  const row = [
    activity.accountNo,
    activity.recordedAt,
    activity.recordKey,
    activity.type,
    activity.platform,
    activity.unit,
    activity.value,
    activity.occurredAt === activity.recordedAt ? null : activity.occurredAt,
    activity.currency ?? null,
    activity.refundedAmountCents ?? null,
    activity.actorName ?? null,
    activity.message ?? null,
  ];
  return { feedChange: { into: ACTIVITY, row } };
}

/** Hides a record from the feed. */
export function hideActivity({ accountNo, recordedAt, recordKey }: ActivityKey): FeedChange {
  const sql = "DELETE FROM activity WHERE account_no = ? AND recorded_at = ? AND record_key = ?";
  return { feedChange: { sql, values: [accountNo, recordedAt, recordKey] } };
}

/** Changes a donation's refunded amount in the feed. */
export function updateRefundedAmount(
  { accountNo, recordedAt, recordKey }: ActivityKey,
  refundedAmountCents: number,
): FeedChange {
  const sql = `UPDATE activity SET refunded_amount_cents = ?
    WHERE account_no = ? AND recorded_at = ? AND record_key = ?`;
  return { feedChange: { sql, values: [refundedAmountCents, accountNo, recordedAt, recordKey] } };
}
