import {
  type ActivityRecord,
  donationRecordKey,
  hideActivity,
  showActivity,
  updateRefundedAmount,
} from "../activity/activity-feed-store.ts";
import { ActivityType, SERVICE_PLATFORM, Unit } from "../activity/activity-values.ts";
import type { FeedChange } from "../write/write.ts";
import { isVisible } from "./donation-status.ts";
import type { DonationRecord } from "./donation-store.ts";

/**
 * Returns how a change to a donation changes the feed; `before` is `undefined` for a new one. A donation that becomes
 * visible again returns to its first position.
 */
export function updateFeed(
  before: DonationRecord | undefined,
  after: DonationRecord,
): FeedChange[] {
  const activity = activityFromDonation(after);
  if (activity === undefined) return [];
  const wasVisible = before !== undefined && isVisible(before);
  if (!isVisible(after)) return wasVisible ? [hideActivity(activity)] : [];
  if (!wasVisible) return [showActivity(activity)];
  if (before.refundedAmountCents === after.refundedAmountCents) return [];
  return [updateRefundedAmount(activity, after.refundedAmountCents)];
}

/** Converts a donation to its feed row. Returns `undefined` if it was never paid. */
function activityFromDonation(donation: DonationRecord): ActivityRecord | undefined {
  const { recordedAt, platform } = donation;
  if (recordedAt === undefined) return undefined;
  return {
    accountNo: donation.accountNo,
    recordedAt,
    recordKey: donationRecordKey(donation.recordId),
    type: ActivityType.Donation,
    platform,
    unit: Unit.Cents,
    value: donation.amountCents,
    occurredAt: donation.donatedAt,
    currency: donation.currency,
    refundedAmountCents: platform === SERVICE_PLATFORM ? donation.refundedAmountCents : undefined,
    actorName: donation.donorName,
    message: donation.message,
  };
}
