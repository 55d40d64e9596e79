import * as proto from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Clients } from "./clients.ts";

/** A kind of record that `addRecord` adds. */
export const Kind = { Contribution: "c", Donation: "d", Refunded: "r", Follow: "f" } as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** The webhook events of a record of each kind. §6.1 */
export const EVENTS_OF: Readonly<Record<Kind, readonly string[]>> = {
  [Kind.Contribution]: ["donation.created", "subscription.created"],
  [Kind.Donation]: ["donation.created"],
  [Kind.Refunded]: ["donation.created", "donation.refunded"],
  [Kind.Follow]: [],
};
/** The answer to a call that adds or changes a record. */
type Added = {
  readonly donation?: proto.Donation | undefined;
  readonly platformEvent?: proto.PlatformEvent | undefined;
};

/** The refunded part of a donation, which stays in the feed. The feed then shows whether it was refunded twice. */
export const REFUND_CENTS = 1;

/**
 * Makes the calls that add a record, each through `ask`. Returns the last answer. A repetition with the same external
 * id changes nothing.
 */
export async function addRecord(
  client: Clients,
  kind: Kind,
  key: { readonly accountId: string; readonly externalId: string },
  texts: { readonly donorName: string; readonly message?: string },
  ask: <Answer>(call: () => Promise<Answer>) => Promise<Answer> = (call) => call(),
): Promise<Added> {
  const donations = client(proto.DonationService);
  if (kind === Kind.Follow) {
    const platform = proto.Platform.LIVE_PLATFORM_1;
    const follow = { case: "follow", value: {} } as const;
    const event = { ...key, ...texts, actorName: texts.donorName, platform, kind: follow };
    return ask(() => client(proto.PlatformEventService).recordPlatformEvent(event));
  }
  const donation = { ...key, ...texts, amountCents: 500n, currency: "eur" };
  const now = timestampNow();
  if (kind === Kind.Contribution) {
    const subscription = { subscriptionExternalId: key.externalId, contributedAt: now };
    return ask(() => donations.recordContribution({ ...donation, ...subscription }));
  }
  const created = await ask(() => donations.createDonation({ ...donation, donatedAt: now }));
  const paid = await ask(() => donations.payDonation(key));
  const refund = { refundExternalId: key.externalId, amountCents: BigInt(REFUND_CENTS) };
  const last =
    kind === Kind.Donation
      ? paid
      : await ask(() => donations.refundDonation({ ...key, ...refund }));
  const ids = new Set([created, paid, last].map((answer) => answer.donation?.recordId));
  if (ids.size > 1) throw new Error("a payment or a refund changed its record's id");
  return last;
}

/** Returns the record in the answer to `addRecord`. Its `id` is the one in the feed. */
export function recordIn({ donation, platformEvent }: Added) {
  const record = donation ?? platformEvent;
  if (record === undefined) throw new Error("an answer shows no record");
  return { ...record, id: `${donation ? "don" : "evt"}_${record.recordId}` };
}
