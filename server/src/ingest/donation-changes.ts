import { advanceFeedClock } from "../account/account-store.ts";
import type { Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { eraseWebhookEvents } from "../webhook-event/webhook-event-store.ts";
import { type DisputeRecord, insertDispute, listDisputes, updateDispute } from "./dispute-store.ts";
import { updateFeed } from "./donation-feed.ts";
import {
  DisputeState,
  DonationChange,
  DonationStatus,
  isAllowed,
  paymentStatus,
} from "./donation-status.ts";
import { type DonationRecord, eraseDonationText, updateDonation } from "./donation-store.ts";
import { hasRefund, insertRefund } from "./refund-store.ts";

// Each function makes one change to a donation of an account that the transaction has locked, and returns
// the donation as it is then. A change that was made before is not made again.

/** Marks a donation as paid. */
export async function payDonation(
  tx: Transaction,
  donation: DonationRecord,
): Promise<DonationRecord> {
  if (donation.recordedAt !== undefined) return donation;
  checkAllowed(DonationChange.Pay, donation.status);
  const recordedAt = await advanceFeedClock(tx, donation.accountNo);
  return store(tx, donation, { ...donation, status: DonationStatus.Paid, recordedAt });
}

/** Adds a refund. */
export async function refundDonation(
  tx: Transaction,
  donation: DonationRecord,
  externalId: Buffer,
  amountCents: number,
): Promise<DonationRecord> {
  const refund = { accountNo: donation.accountNo, recordId: donation.recordId, externalId };
  if (await hasRefund(tx, refund)) return donation;
  checkAllowed(DonationChange.Refund, donation.status);
  const refundedAmountCents = donation.refundedAmountCents + amountCents;
  if (refundedAmountCents > donation.amountCents) {
    throw refused("All refunds together would give back more than the donation's amount.");
  }
  await insertRefund(tx, refund, amountCents);
  const disputes = await listDisputes(tx, donation);
  return storePayment(tx, donation, { ...donation, refundedAmountCents }, disputes);
}

/** Opens a dispute. */
export async function openDispute(
  tx: Transaction,
  donation: DonationRecord,
  externalId: Buffer,
): Promise<DonationRecord> {
  const disputes = await listDisputes(tx, donation);
  if (findDispute(disputes, externalId)) return donation;
  checkAllowed(DonationChange.OpenDispute, donation.status);
  await insertDispute(tx, donation, externalId);
  const opened = [...disputes, { externalId, state: DisputeState.Open }];
  return storePayment(tx, donation, donation, opened);
}

/** Ends a dispute. */
export async function resolveDispute(
  tx: Transaction,
  donation: DonationRecord,
  externalId: Buffer,
  outcome: DisputeState,
): Promise<DonationRecord> {
  const disputes = await listDisputes(tx, donation);
  const dispute = findDispute(disputes, externalId);
  if (dispute === undefined) throw refused("The donation has no dispute with this id.");
  if (dispute.state === outcome) return donation;
  if (dispute.state !== DisputeState.Open) {
    throw refused("The dispute has ended already, with the other outcome.");
  }
  checkAllowed(DonationChange.ResolveDispute, donation.status);
  const resolved = { externalId, state: outcome };
  await updateDispute(tx, donation, resolved);
  const others = disputes.filter((other) => other !== dispute);
  return storePayment(tx, donation, donation, [...others, resolved]);
}

/** Deletes a donation: its row stays, so that it is recognized when it is written again. */
export async function deleteDonation(
  tx: Transaction,
  donation: DonationRecord,
): Promise<DonationRecord> {
  if (donation.status === DonationStatus.Deleted) return donation;
  checkAllowed(DonationChange.Delete, donation.status);
  await eraseDonationText(tx, donation);
  await eraseWebhookEvents(tx, donation.accountNo, donation.recordId);
  const erased = { donorName: undefined, message: undefined };
  return store(tx, donation, { ...donation, ...erased, status: DonationStatus.Deleted });
}

function storePayment(
  tx: Transaction,
  before: DonationRecord,
  after: DonationRecord,
  disputes: readonly DisputeRecord[],
): Promise<DonationRecord> {
  const { amountCents, refundedAmountCents } = after;
  const states = disputes.map((dispute) => dispute.state);
  const status = paymentStatus({ amountCents, refundedAmountCents, disputes: states });
  return store(tx, before, { ...after, status });
}

async function store(
  tx: Transaction,
  before: DonationRecord,
  after: DonationRecord,
): Promise<DonationRecord> {
  await updateDonation(tx, after);
  await updateFeed(tx, before, after);
  return after;
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
  [DonationChange.Pay]: "paid",
  [DonationChange.Refund]: "refunded",
  [DonationChange.OpenDispute]: "disputed",
  [DonationChange.ResolveDispute]: "freed of a dispute",
  [DonationChange.Delete]: "deleted",
} satisfies Record<DonationChange, string>;

function checkAllowed(change: DonationChange, status: DonationStatus): void {
  if (isAllowed(change, status)) return;
  throw refused(
    `The donation is ${STATUS_WORDS[status]}, so it cannot be ${CHANGE_WORDS[change]}.`,
  );
}

function refused(message: string): DomainError {
  return new DomainError(ErrorCode.DonationTransitionRefused, message);
}
