/** The kinds of webhook event, numbered as in the proto's WebhookEventKind and the stored columns. §6.1 */
export const WebhookEventKind = {
  DonationCreated: 1,
  DonationRefunded: 2,
  DonationChargeback: 3,
  SubscriptionCreated: 4,
} as const;
export type WebhookEventKind = (typeof WebhookEventKind)[keyof typeof WebhookEventKind];

/** The `type` of each kind, as receivers see it. */
export const KIND_NAMES = {
  [WebhookEventKind.DonationCreated]: "donation.created",
  [WebhookEventKind.DonationRefunded]: "donation.refunded",
  [WebhookEventKind.DonationChargeback]: "donation.chargeback",
  [WebhookEventKind.SubscriptionCreated]: "subscription.created",
} as const satisfies Record<WebhookEventKind, string>;

const KINDS: readonly WebhookEventKind[] = Object.values(WebhookEventKind);

/** Packs kinds into the bits of one number. Kind numbers must be at most 30. */
export function kindBits(kinds: Iterable<WebhookEventKind>): number {
  let bits = 0;
  for (const kind of kinds) bits |= 1 << kind;
  return bits;
}

/** Unpacks the kinds of `kindBits`, in the order of their numbers. */
export function kindsFromBits(bits: number): WebhookEventKind[] {
  return KINDS.filter((kind) => (bits & (1 << kind)) !== 0);
}
