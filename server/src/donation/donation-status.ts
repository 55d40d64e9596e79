/** The status of a donation, numbered as in the proto's DonationStatus and the stored column. §3 */
export const DonationStatus = {
  Created: 1,
  Paid: 2,
  Refunded: 3,
  Disputed: 4,
  DisputeLost: 5,
  Deleted: 6,
} as const;
export type DonationStatus = (typeof DonationStatus)[keyof typeof DonationStatus];

/** The state of a dispute, numbered as in the stored column; `Won` and `Lost` as in the proto's outcomes. */
export const DisputeState = { Open: 0, Won: 1, Lost: 2 } as const;
export type DisputeState = (typeof DisputeState)[keyof typeof DisputeState];

export const DonationChange = {
  Pay: "pay",
  Refund: "refund",
  OpenDispute: "open_dispute",
  ResolveDispute: "resolve_dispute",
} as const;
export type DonationChange = (typeof DonationChange)[keyof typeof DonationChange];

const ALLOWED_FROM = {
  pay: [DonationStatus.Created],
  refund: [DonationStatus.Paid, DonationStatus.Disputed],
  open_dispute: [
    DonationStatus.Paid,
    DonationStatus.Refunded,
    DonationStatus.Disputed,
    DonationStatus.DisputeLost,
  ],
  resolve_dispute: [DonationStatus.Disputed],
} satisfies Record<DonationChange, readonly DonationStatus[]>;

export function isAllowed(change: DonationChange, status: DonationStatus): boolean {
  const statuses: readonly DonationStatus[] = ALLOWED_FROM[change];
  return statuses.includes(status);
}

/** The values that decide the status of a donation that was paid and is not deleted. */
export type PaymentFacts = {
  readonly amountCents: number;
  readonly refundedAmountCents: number;
  readonly disputes: readonly DisputeState[];
};

/** Returns the status of a paid donation. An open dispute takes precedence over a lost one, and both over refunds. */
export function paymentStatus(facts: PaymentFacts): DonationStatus {
  if (facts.disputes.includes(DisputeState.Open)) return DonationStatus.Disputed;
  if (facts.disputes.includes(DisputeState.Lost)) return DonationStatus.DisputeLost;
  const { amountCents, refundedAmountCents } = facts;
  // A donation of 0 cents is never refunded.
  const fullyRefunded = refundedAmountCents > 0 && refundedAmountCents >= amountCents;
  return fullyRefunded ? DonationStatus.Refunded : DonationStatus.Paid;
}

/** Tells whether a donation is in the feed. §3 */
export function isVisible(donation: {
  readonly status: DonationStatus;
  readonly test: boolean;
}): boolean {
  return donation.status === DonationStatus.Paid && !donation.test;
}
