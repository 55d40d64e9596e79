import { DomainError, ErrorCode } from "../common/errors.ts";
import type { Change } from "../database/change.ts";
import { eraseWebhookEvents } from "../webhook-event/webhook-event-store.ts";
import type { Decision } from "../write/write.ts";
import { type DisputeRecord, storeDispute, updateDispute } from "./dispute-store.ts";
import { updateFeed } from "./donation-feed.ts";
import {
  DisputeState,
  DonationChange,
  DonationStatus,
  isAllowed,
  paymentStatus,
} from "./donation-status.ts";
import { type DonationRecord, updateDonation } from "./donation-store.ts";
import { type RefundRecord, storeRefund } from "./refund-store.ts";

export type ChangedDonation = Omit<Decision<never>, "answer"> & {
  /** The given object, if the change repeats an earlier one. */
  readonly donation: DonationRecord;
};

/** A stored donation with its refunds and disputes. */
export type DonationState = {
  readonly donation: DonationRecord;
  readonly refunds: readonly RefundRecord[];
  readonly disputes: readonly DisputeRecord[];
};

// Each function decides one change to a stored donation. A repeated change changes nothing.

/** Marks a donation as paid. `recordedAt` is the time of the first payment. */
export function payDonation({ donation }: DonationState, recordedAt: number): ChangedDonation {
  if (donation.recordedAt !== undefined) return unchanged(donation);
  checkAllowed(DonationChange.Pay, donation.status);
  return changed(donation, { ...donation, status: DonationStatus.Paid, recordedAt });
}

export function refundDonation(
  { donation, refunds, disputes }: DonationState,
  externalId: Buffer,
  amountCents: number,
): ChangedDonation {
  if (refunds.some((refund) => refund.externalId.equals(externalId))) return unchanged(donation);
  checkAllowed(DonationChange.Refund, donation.status);
  const refundedAmountCents = donation.refundedAmountCents + amountCents;
  if (refundedAmountCents > donation.amountCents) {
    const rest = donation.amountCents - donation.refundedAmountCents;
    throw refused(`At most ${rest} cents of the donation can still be refunded.`);
  }
  const after = withPayment({ ...donation, refundedAmountCents }, disputes);
  return changed(donation, after, storeRefund(donation, externalId, amountCents));
}

export function openDispute(
  { donation, disputes }: DonationState,
  externalId: Buffer,
): ChangedDonation {
  if (findDispute(disputes, externalId)) return unchanged(donation);
  checkAllowed(DonationChange.OpenDispute, donation.status);
  const opened = [...disputes, { externalId, state: DisputeState.Open }];
  return changed(donation, withPayment(donation, opened), storeDispute(donation, externalId));
}

export function resolveDispute(
  { donation, disputes }: DonationState,
  externalId: Buffer,
  outcome: DisputeState,
): ChangedDonation {
  const dispute = findDispute(disputes, externalId);
  if (dispute === undefined) {
    checkAllowed(DonationChange.OpenDispute, donation.status);
    throw refused("The donation has no dispute with this dispute_external_id. Open it first.");
  }
  if (dispute.state === outcome) return unchanged(donation);
  if (dispute.state !== DisputeState.Open) {
    throw refused("The dispute has already ended with the other outcome, which cannot change.");
  }
  checkAllowed(DonationChange.ResolveDispute, donation.status);
  const resolved = { externalId, state: outcome };
  const others = disputes.filter((other) => other !== dispute);
  const after = withPayment(donation, [...others, resolved]);
  return changed(donation, after, updateDispute(donation, resolved));
}

/** Deletes a donation of any status. Its row stays, so that a repeated write is recognized. */
export function deleteDonation({ donation }: DonationState): ChangedDonation {
  if (donation.status === DonationStatus.Deleted) return unchanged(donation);
  const erased = { donorName: undefined, message: undefined };
  const after = { ...donation, ...erased, status: DonationStatus.Deleted };
  return changed(donation, after, ...eraseWebhookEvents(donation.accountNo, donation.recordId));
}

function unchanged(donation: DonationRecord): ChangedDonation {
  return { donation };
}

function changed(
  before: DonationRecord,
  after: DonationRecord,
  ...others: Change[]
): ChangedDonation {
  return {
    donation: after,
    changes: [updateDonation(after), ...others],
    feed: updateFeed(before, after),
  };
}

function withPayment(donation: DonationRecord, disputes: readonly DisputeRecord[]): DonationRecord {
  const { amountCents, refundedAmountCents } = donation;
  const states = disputes.map((dispute) => dispute.state);
  const status = paymentStatus({ amountCents, refundedAmountCents, disputes: states });
  return { ...donation, status };
}
function findDispute(
  disputes: readonly DisputeRecord[],
  externalId: Buffer,
): DisputeRecord | undefined {
  return disputes.find((dispute) => dispute.externalId.equals(externalId));
}

const STATUS_WORDS = {
  [DonationStatus.Created]: "not paid",
  [DonationStatus.Paid]: "paid",
  [DonationStatus.Refunded]: "refunded in full",
  [DonationStatus.Disputed]: "disputed",
  [DonationStatus.DisputeLost]: "lost in a dispute",
  [DonationStatus.Deleted]: "deleted",
} satisfies Record<DonationStatus, string>;

const CHANGE_WORDS = {
  [DonationChange.Pay]: "be paid",
  [DonationChange.Refund]: "be refunded",
  [DonationChange.OpenDispute]: "be disputed",
  [DonationChange.ResolveDispute]: "end a dispute",
} satisfies Record<DonationChange, string>;

function checkAllowed(change: DonationChange, status: DonationStatus): void {
  if (isAllowed(change, status)) return;
  throw refused(`The donation is ${STATUS_WORDS[status]}, so it cannot ${CHANGE_WORDS[change]}.`);
}

function refused(message: string): DomainError {
  return new DomainError(ErrorCode.DonationTransitionRefused, message);
}
