import { type Activity, ActivityType, Platform, Unit } from "@activity/proto";
import { renderTimestamp } from "./timestamp.ts";

const TYPES: Readonly<Record<number, string | undefined>> = {
  [ActivityType.UNSPECIFIED]: undefined,
  [ActivityType.DONATION]: "donation",
  [ActivityType.FOLLOW]: "follow",
  [ActivityType.SUBSCRIPTION]: "subscription",
  [ActivityType.GIFTSUB]: "giftsub",
  [ActivityType.CHEER]: "cheer",
  [ActivityType.RAID]: "raid",
} satisfies Record<ActivityType, string | undefined>;

const PLATFORMS: Readonly<Record<number, string | undefined>> = {
  [Platform.UNSPECIFIED]: undefined,
  [Platform.SERVICE]: "service",
  [Platform.LIVE_PLATFORM_1]: "live_platform_1",
  [Platform.LIVE_PLATFORM_2]: "live_platform_2",
  [Platform.LIVE_PLATFORM_3]: "live_platform_3",
  [Platform.LIVE_PLATFORM_4]: "live_platform_4",
  [Platform.IMPORT_SOURCE_1]: "import_source_1",
  [Platform.IMPORT_SOURCE_2]: "import_source_2",
  [Platform.IMPORT_SOURCE_3]: "import_source_3",
  [Platform.IMPORT_SOURCE_4]: "import_source_4",
  [Platform.CSV]: "csv",
} satisfies Record<Platform, string | undefined>;

const UNITS: Readonly<Record<number, string | undefined>> = {
  [Unit.UNSPECIFIED]: undefined,
  [Unit.CENTS]: "cents",
  [Unit.NONE]: "none",
  [Unit.MONTHS]: "months",
  [Unit.SUBSCRIPTIONS]: "subscriptions",
  [Unit.BITS]: "bits",
  [Unit.DIAMONDS]: "diamonds",
  [Unit.VIEWERS]: "viewers",
} satisfies Record<Unit, string | undefined>;

/** Renders one activity as public JSON: every field of §2.1, always. Throws when a message lacks one. */
export function renderActivity(activity: Activity): string {
  const type = TYPES[activity.type];
  const platform = PLATFORMS[activity.platform];
  const unit = UNITS[activity.unit];
  const { occurredAt, recordedAt } = activity;
  if (!type || !platform || !unit || !occurredAt || !recordedAt) {
    throw new Error(`activity ${activity.id} lacks a field`);
  }
  const { actorName, message, currency, refundedAmountCents } = activity;
  // Ids, names of the contract and currencies hold nothing that JSON would escape; people's text may.
  return `{"id":"${activity.id}","type":"${type}","platform":"${platform}","occurred_at":"${renderTimestamp(occurredAt)}","recorded_at":"${renderTimestamp(recordedAt)}","actor":{"name":${renderText(actorName)}},"message":${renderText(message)},"value":${activity.value},"unit":"${unit}","currency":${currency === undefined ? "null" : `"${currency}"`},"refunded_amount_cents":${refundedAmountCents ?? "null"}}`;
}

function renderText(text: string | undefined): string {
  return text === undefined ? "null" : JSON.stringify(text);
}
