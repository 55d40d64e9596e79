import type { Transaction } from "../database/transaction.ts";
import {
  type ActivityRecord,
  deleteActivity,
  donationRecordKey,
  insertActivities,
  updateRefundedAmount,
} from "./activity-feed-store.ts";
import { ActivityType, SERVICE_PLATFORM, Unit } from "./activity-values.ts";
import { isVisible } from "./donation-status.ts";
import type { DonationRecord } from "./donation-store.ts";

/**
 * Brings the feed from what it showed of a donation before a change to what it shows after it. A donation
 * that is shown again stands where it first stood.
 */
export async function updateFeed(
  tx: Transaction,
  before: DonationRecord,
  after: DonationRecord,
): Promise<void> {
  const activity = activityFromDonation(after);
  if (activity === undefined) return;
  const wasVisible = isVisible(before);
  if (!isVisible(after)) {
    if (wasVisible) await deleteActivity(tx, activity);
  } else if (!wasVisible) {
    await insertActivities(tx, [activity]);
  } else if (before.refundedAmountCents !== after.refundedAmountCents) {
    await updateRefundedAmount(tx, activity, after.refundedAmountCents);
  }
}

/** Converts a donation to its row of the feed; `undefined` when it was never paid and so has no place there. */
export function activityFromDonation(donation: DonationRecord): ActivityRecord | undefined {
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
