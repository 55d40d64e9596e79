import { DomainError, ErrorCode } from "../common/errors.ts";
import type { Change } from "../database/change.ts";
import type { Decision } from "../write/write.ts";
import { updateFeed } from "./donation-feed.ts";
import { DonationStatus } from "./donation-status.ts";
import { type DonationRecord, type StoredDonation, storeDonation } from "./donation-store.ts";
import { type SubscriptionRecord, storeSubscription } from "./subscription-store.ts";

export type ContributionRecord = {
  readonly donation: DonationRecord;
  readonly subscriptionId: string;
  /** Whether the donation started the subscription. */
  readonly first: boolean;
};

/** The subscription that a contribution names: the stored one, or the id that a new one gets. */
export type NamedSubscription = {
  readonly externalId: Buffer;
  readonly stored: SubscriptionRecord | { readonly id: string };
};

/** Turns a new donation into a paid contribution. The first one that is not a test starts its subscription. */
export function newContribution(
  created: DonationRecord,
  { externalId, stored }: NamedSubscription,
  recordedAt: number,
): Omit<Decision<never>, "answer"> & { readonly contribution: ContributionRecord } {
  const { accountNo, recordId, test } = created;
  const subscriptionId = stored.id;
  const donation = { ...created, status: DonationStatus.Paid, recordedAt, subscriptionId };
  const isNew = !("firstRecordId" in stored);
  const first = (isNew || stored.firstRecordId === undefined) && !test;
  const firstRecordId = first ? recordId : undefined;
  const changes: Change[] = [storeDonation(donation)];
  if (first || isNew) {
    changes.push(storeSubscription(accountNo, externalId, subscriptionId, firstRecordId));
  }
  const contribution = { donation, subscriptionId, first };
  return { contribution, changes, feed: updateFeed(undefined, donation) };
}

/** Returns a stored donation as a contribution. Fails with `donation_transition_refused` if it is not one. */
export function storedContribution(donation: StoredDonation): ContributionRecord {
  const { subscriptionId, startsSubscription } = donation;
  if (subscriptionId !== undefined) return { donation, subscriptionId, first: startsSubscription };
  throw new DomainError(
    ErrorCode.DonationTransitionRefused,
    "The donation with this external_id is no contribution to a subscription. Use another external_id.",
  );
}
