import { advanceFeedClock } from "../account/account-store.ts";
import type { Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { newId } from "../ids.ts";
import { insertActivities } from "./activity-feed-store.ts";
import { activityFromDonation } from "./donation-feed.ts";
import { DonationStatus, isVisible } from "./donation-status.ts";
import { type DonationRecord, findDonation, insertDonations } from "./donation-store.ts";
import {
  findSubscription,
  findSubscriptionById,
  insertSubscription,
  type SubscriptionRecord,
  startSubscription,
} from "./subscription-store.ts";

/** A contribution as it is stored. */
export type ContributionRecord = {
  readonly donation: DonationRecord;
  readonly subscriptionId: string;
  /** Whether it started its subscription. */
  readonly first: boolean;
  /** Whether this call stored it. */
  readonly isNew: boolean;
};

/**
 * Stores a new donation of an account that the transaction has locked as a paid contribution, unless it is
 * stored already. The first one that is no test starts its subscription. Fails with
 * `donation_transition_refused` when the donation is stored, but as no contribution.
 */
export async function recordContribution(
  tx: Transaction,
  created: DonationRecord,
  subscriptionExternalId: Buffer,
): Promise<ContributionRecord> {
  const { accountNo, platform, externalId, recordId, test } = created;
  const stored = await findDonation(tx, accountNo, platform, externalId);
  if (stored !== undefined) return storedContribution(tx, stored);

  const subscription = await putSubscription(tx, accountNo, subscriptionExternalId);
  const recordedAt = await advanceFeedClock(tx, accountNo);
  const donation = {
    ...created,
    status: DonationStatus.Paid,
    recordedAt,
    subscriptionId: subscription.id,
  };
  await insertDonations(tx, [donation]);
  const activity = activityFromDonation(donation);
  if (activity !== undefined && isVisible(donation)) await insertActivities(tx, [activity]);
  const first = subscription.firstRecordId === undefined && !test;
  if (first) await startSubscription(tx, accountNo, subscription.id, { recordId, recordedAt });
  return { donation, subscriptionId: subscription.id, first, isNew: true };
}

async function storedContribution(
  tx: Transaction,
  donation: DonationRecord,
): Promise<ContributionRecord> {
  const { accountNo, recordId, subscriptionId } = donation;
  if (subscriptionId === undefined) {
    throw new DomainError(
      ErrorCode.DonationTransitionRefused,
      "The donation with this external_id is stored already, as no contribution to a subscription.",
    );
  }
  const subscription = await findSubscriptionById(tx, accountNo, subscriptionId);
  const first = subscription?.firstRecordId === recordId;
  return { donation, subscriptionId, first, isNew: false };
}

async function putSubscription(
  tx: Transaction,
  accountNo: number,
  externalId: Buffer,
): Promise<SubscriptionRecord> {
  const stored = await findSubscription(tx, accountNo, externalId);
  if (stored !== undefined) return stored;
  const id = newId();
  await insertSubscription(tx, accountNo, externalId, id);
  return { id, firstRecordId: undefined };
}
