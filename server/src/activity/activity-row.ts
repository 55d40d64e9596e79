import type { Activity, ActivityType, Platform, Unit } from "@activity/proto";
import { timestampFromMicros } from "../common/timestamps.ts";
import type { ActivityRow } from "./activity-store.ts";

/** A record key is a record id of this many characters and one letter: `d` for a donation, `e` for a platform event. */
const RECORD_ID_LENGTH = 15;

/** Converts a feed row to its message. The object is written out for speed: this runs for each row of a page. */
export function activityFromRow(row: ActivityRow): Activity {
  const recordedAt = timestampFromMicros(row.recorded_at);
  const activity: Activity = {
    $typeName: "activity.read.v1.Activity",
    id: publicIdFromRecordKey(row.record_key),
    type: row.type as ActivityType,
    platform: row.platform as Platform,
    occurredAt: row.occurred_at === null ? recordedAt : timestampFromMicros(row.occurred_at),
    recordedAt,
    value: BigInt(row.value),
    unit: row.unit as Unit,
  };
  if (row.actor_name !== null) activity.actorName = row.actor_name;
  if (row.message !== null) activity.message = row.message;
  if (row.currency !== null) activity.currency = row.currency;
  if (row.refunded_amount_cents !== null) {
    activity.refundedAmountCents = BigInt(row.refunded_amount_cents);
  }
  return activity;
}

function publicIdFromRecordKey(recordKey: string): string {
  const prefix = recordKey.charCodeAt(RECORD_ID_LENGTH) === DONATION_SOURCE ? "don_" : "evt_";
  return prefix + recordKey.slice(0, RECORD_ID_LENGTH);
}

/** The character code of `d`. */
const DONATION_SOURCE = 0x64;
