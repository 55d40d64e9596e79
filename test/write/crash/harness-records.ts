import {
  type Donation,
  DonationService,
  Platform,
  type PlatformEvent,
  PlatformEventService,
} from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import { unique } from "../../harness/builders.ts";
import { lineOf } from "./harness-feed.ts";

/** A record as its writer knows it from the answers. */
export type WrittenRecord = {
  /** Its line in the feed. */
  readonly line: string;
  /** Its webhook events. */
  readonly told: readonly string[];
};

/** The record in an answer. */
export type Shown = Donation | PlatformEvent;

/** Makes a call until it is answered. */
export type Ask = <Answer extends Shown>(call: () => Promise<Answer>) => Promise<Answer>;

/** Writes one new record of an account. */
export type WriteRecord = (accountId: string, ask: Ask) => Promise<WrittenRecord>;

const AMOUNT = { amountCents: 500n, currency: "eur" };
/** A part of the amount, so that the donation stays in the feed. The feed then shows if it was refunded twice. */
const REFUND_CENTS = 1n;

/** Returns a writer of each kind of record. */
export function recordWriters(stack: CrashStack): WriteRecord[] {
  const donations = stack.client(DonationService);
  const platformEvents = stack.client(PlatformEventService);

  async function writeContribution(accountId: string, ask: Ask): Promise<WrittenRecord> {
    const ids = { accountId, externalId: unique("month") };
    const subscription = { subscriptionExternalId: unique("subscription") };
    const request = { ...ids, ...subscription, ...AMOUNT, contributedAt: timestampNow() };
    const contribution = await ask(async () =>
      shownIn((await donations.recordContribution(request)).donation),
    );
    return writtenDonation(contribution, "donation.created", "subscription.created");
  }

  async function payDonation(accountId: string, ask: Ask): Promise<Donation> {
    const ids = { accountId, externalId: unique("donation") };
    const request = { ...ids, ...AMOUNT, donatedAt: timestampNow() };
    const created = await ask(async () =>
      shownIn((await donations.createDonation(request)).donation),
    );
    const paid = await ask(async () => shownIn((await donations.payDonation(ids)).donation));
    if (paid.recordId !== created.recordId) throw new Error("a payment changed its record's id");
    return paid;
  }

  async function writeDonation(accountId: string, ask: Ask): Promise<WrittenRecord> {
    return writtenDonation(await payDonation(accountId, ask), "donation.created");
  }

  async function writeRefund(accountId: string, ask: Ask): Promise<WrittenRecord> {
    const { externalId, recordId } = await payDonation(accountId, ask);
    const refund = { refundExternalId: unique("refund"), amountCents: REFUND_CENTS };
    const request = { accountId, externalId, ...refund };
    const refunded = await ask(async () =>
      shownIn((await donations.refundDonation(request)).donation),
    );
    if (refunded.recordId !== recordId) throw new Error("a refund changed its record's id");
    return writtenDonation(refunded, "donation.created", "donation.refunded");
  }

  async function writePlatformEvent(accountId: string, ask: Ask): Promise<WrittenRecord> {
    const ids = { accountId, externalId: unique("event"), platform: Platform.LIVE_PLATFORM_1 };
    const request = { ...ids, kind: { case: "follow", value: {} } } as const;
    const event = await ask(async () =>
      shownIn((await platformEvents.recordPlatformEvent(request)).platformEvent),
    );
    const { recordId, recordedAt } = event;
    return { line: lineOf({ id: `evt_${recordId}`, recordedAt }), told: [] };
  }

  return [writeContribution, writeDonation, writePlatformEvent, writeRefund];
}

function shownIn<Answer extends Shown>(answer: Answer | undefined): Answer {
  if (answer === undefined) throw new Error("an answer shows no record");
  return answer;
}

function writtenDonation(donation: Donation, ...kinds: string[]): WrittenRecord {
  const { recordId, recordedAt, refundedAmountCents } = donation;
  return {
    line: lineOf({ id: `don_${recordId}`, recordedAt, refundedAmountCents }),
    told: kinds.map((kind) => `${kind} ${recordId}`),
  };
}
