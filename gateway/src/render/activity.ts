import { type Activity, PLATFORMS, TYPES, UNITS } from "@activity/proto";
import { renderTimestamp } from "./timestamp.ts";

/** Renders an activity as public JSON with every field of §2.1. Throws if the message lacks one. */
export function renderActivity(activity: Activity): string {
  const type = TYPES[activity.type];
  const platform = PLATFORMS[activity.platform];
  const unit = UNITS[activity.unit];
  const { occurredAt, recordedAt } = activity;
  if (!type || !platform || !unit || !occurredAt || !recordedAt) {
    throw new Error(`activity ${activity.id} lacks a field`);
  }
  const { actorName, message, currency, refundedAmountCents } = activity;
  // Only people's text can need JSON escapes. Ids, the contract's words and currencies cannot.
  return `{"id":"${activity.id}","type":"${type}","platform":"${platform}","occurred_at":"${renderTimestamp(occurredAt)}","recorded_at":"${renderTimestamp(recordedAt)}","actor":{"name":${renderText(actorName)}},"message":${renderText(message)},"value":${activity.value},"unit":"${unit}","currency":${currency === undefined ? "null" : `"${currency}"`},"refunded_amount_cents":${refundedAmountCents ?? "null"}}`;
}

function renderText(text: string | undefined): string {
  return text === undefined ? "null" : JSON.stringify(text);
}
