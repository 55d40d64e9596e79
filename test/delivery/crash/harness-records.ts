import {
  type Donation,
  DonationService,
  Platform,
  type PlatformEvent,
  PlatformEventService,
} from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { unique } from "../../harness/builders.ts";
import { lineOf } from "./harness-feed.ts";
import type { CrashStack } from "./harness-stack.ts";

/** A record as its writer knows it from the answers. */
export type WrittenRecord = {
  readonly line: string;
  /** Its webhook events. */
  readonly told: readonly string[];
};

/** The record in an answer. */
export type Shown = Donation | PlatformEvent;

/** Makes a call until it is answered. */
type Ask = <Answer extends Shown>(call: () => Promise<Answer>) => Promise<Answer>;

type WriteRecord = (accountId: string) => Promise<WrittenRecord>;

/** Texts of every record. Tests search for them in histories and logs. */
export const STORED_TEXTS = { donorName: "Wilhelmina Zzyzx", message: "plum teapot monsoon" };
const FIELDS = { amountCents: 500n, currency: "eur", ...STORED_TEXTS };
/** A part of the amount, so that the donation stays in the feed. The feed then shows if it was refunded twice. */
const REFUND_CENTS = 1n;

/** Returns a writer of each kind of record. Each makes its calls by `ask`. */
export function recordWriters(stack: CrashStack, ask: Ask): WriteRecord[] {
  const donations = stack.client(DonationService);
  const platformEvents = stack.client(PlatformEventService);
  const askDonation = (call: () => Promise<{ donation?: Donation | undefined }>) =>
    ask(async () => shown((await call()).donation));

  async function writeContribution(accountId: string): Promise<WrittenRecord> {
    const ids = { accountId, externalId: unique("month") };
    const subscription = { subscriptionExternalId: unique("subscription") };
    const request = { ...ids, ...subscription, ...FIELDS, contributedAt: timestampNow() };
    const contribution = await askDonation(() => donations.recordContribution(request));
    return writtenDonation(contribution, "donation.created", "subscription.created");
  }

  async function payDonation(accountId: string): Promise<Donation> {
    const ids = { accountId, externalId: unique("donation") };
    const request = { ...ids, ...FIELDS, donatedAt: timestampNow() };
    const created = await askDonation(() => donations.createDonation(request));
    const paid = await askDonation(() => donations.payDonation(ids));
    if (paid.recordId !== created.recordId) throw new Error("a payment changed its record's id");
    return paid;
  }

  async function writeDonation(accountId: string): Promise<WrittenRecord> {
    return writtenDonation(await payDonation(accountId), "donation.created");
  }

  async function writeRefund(accountId: string): Promise<WrittenRecord> {
    const { externalId, recordId } = await payDonation(accountId);
    const refund = { refundExternalId: unique("refund"), amountCents: REFUND_CENTS };
    const request = { accountId, externalId, ...refund };
    const refunded = await askDonation(() => donations.refundDonation(request));
    if (refunded.recordId !== recordId) throw new Error("a refund changed its record's id");
    return writtenDonation(refunded, "donation.created", "donation.refunded");
  }

  async function writePlatformEvent(accountId: string): Promise<WrittenRecord> {
    const ids = { accountId, externalId: unique("event"), platform: Platform.LIVE_PLATFORM_1 };
    const texts = { actorName: STORED_TEXTS.donorName, message: STORED_TEXTS.message };
    const request = { ...ids, ...texts, kind: { case: "follow", value: {} } } as const;
    const { recordId, recordedAt } = await ask(async () =>
      shown((await platformEvents.recordPlatformEvent(request)).platformEvent),
    );
    return { line: lineOf({ id: `evt_${recordId}`, recordedAt }), told: [] };
  }

  return [writeContribution, writeDonation, writePlatformEvent, writeRefund];
}

function shown<Answer extends Shown>(record: Answer | undefined): Answer {
  if (record === undefined) throw new Error("an answer shows no record");
  return record;
}

function writtenDonation(donation: Donation, ...kinds: string[]): WrittenRecord {
  const { recordId, recordedAt, refundedAmountCents } = donation;
  return {
    line: lineOf({ id: `don_${recordId}`, recordedAt, refundedAmountCents }),
    told: kinds.map((kind) => `${kind} ${recordId}`),
  };
}
