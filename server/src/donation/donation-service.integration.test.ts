import { DisputeOutcome, type Donation, DonationStatus } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, describe, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const services = useServices();
let accountId: string;
beforeAll(async () => {
  accountId = await services.createAccount();
});

const donatedAt = timestampFromMs(1_700_000_000_000);
const { WON } = DisputeOutcome;

/** Creates a paid donation of 1000 cents, with short functions for its changes. */
async function paidDonation(fields: { test?: boolean } = {}) {
  const { donations, readFeed } = services;
  const key = { accountId, externalId: unique("donation") };
  const text = { donorName: "Ada", message: "hello" };
  const money = { amountCents: 1000n, currency: "eur" };
  await donations.createDonation({ ...key, ...money, ...text, donatedAt, ...fields });
  const { donation: paid } = await donations.payDonation(key);
  const recordId = paid?.recordId ?? "";
  const of = (answer: { donation?: Donation | undefined }) => {
    if (answer.donation === undefined) throw new Error("no donation");
    return answer.donation;
  };
  return {
    key,
    recordId,
    paid,
    pay: async () => of(await donations.payDonation(key)),
    refund: async (amountCents: bigint, refundExternalId = unique("refund")) =>
      of(await donations.refundDonation({ ...key, refundExternalId, amountCents })),
    dispute: async (disputeExternalId: string) =>
      of(await donations.openDispute({ ...key, disputeExternalId })),
    resolve: async (disputeExternalId: string, outcome: DisputeOutcome) =>
      of(await donations.resolveDispute({ ...key, disputeExternalId, outcome })),
    delete: async () => of(await donations.deleteDonation(key)),
    inFeed: async () =>
      (await readFeed(accountId)).find((row) => row.record_key === `${recordId}d`),
  };
}

const refusal = { code: ErrorCode.DonationTransitionRefused };

describe("a donation", () => {
  it("does not change when it is created or paid again", async () => {
    const { key, paid, inFeed } = await paidDonation();
    const other = { amountCents: 5n, currency: "eur", donorName: "Eve", donatedAt, test: true };
    const { donation } = await services.donations.createDonation({ ...key, ...other });
    expect(donation).toEqual(paid);
    expect((await services.donations.payDonation(key)).donation).toEqual(paid);
    expect(await inFeed()).toMatchObject({ value: 1000, actor_name: "Ada" });
  });

  it("counts each refund once, up to its amount", async () => {
    const donation = await paidDonation();
    await donation.refund(400n, "refund 1");
    expect(await donation.refund(999n, "refund 1")).toMatchObject({ refundedAmountCents: 400n });
    await expect(donation.refund(601n)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining("At most 600 cents"),
    });
    await expect(donation.refund(2n ** 53n - 1n)).rejects.toMatchObject(refusal);
    expect(await donation.inFeed()).toMatchObject({ refunded_amount_cents: 400 });
  });

  it("returns to its position in the feed once every dispute is won", async () => {
    const donation = await paidDonation();
    const first = await donation.inFeed();
    await donation.dispute("a");
    expect(await donation.inFeed()).toBeUndefined();
    await donation.dispute("b");
    await donation.dispute("a");
    expect(await donation.resolve("a", WON)).toMatchObject({ status: DonationStatus.DISPUTED });
    expect(await donation.inFeed()).toBeUndefined();
    expect(await donation.resolve("b", WON)).toMatchObject({ status: DonationStatus.PAID });
    expect(await donation.inFeed()).toEqual(first);
    expect(await donation.resolve("b", WON)).toMatchObject({ visible: true });
  });

  it("returns with the amount refunded during the dispute, unless that is all of it", async () => {
    const partly = await paidDonation();
    await partly.dispute("a");
    expect(await partly.refund(300n)).toMatchObject({ status: DonationStatus.DISPUTED });
    await partly.resolve("a", WON);
    expect(await partly.inFeed()).toMatchObject({ value: 1000, refunded_amount_cents: 300 });

    const fully = await paidDonation();
    await fully.dispute("a");
    await fully.refund(1000n);
    expect(await fully.resolve("a", WON)).toMatchObject({ status: DonationStatus.REFUNDED });
    expect(await fully.inFeed()).toBeUndefined();
  });

  it("is deleted permanently, with its donor's text", async () => {
    const donation = await paidDonation();
    await donation.refund(400n, "refund 1");
    const deleted = await donation.delete();
    expect(deleted).toMatchObject({ status: DonationStatus.DELETED, visible: false });
    expect(await donation.inFeed()).toBeUndefined();
    expect(
      await services.database.query(
        "SELECT donor_name, message FROM donation WHERE record_id = ?",
        [donation.recordId],
      ),
    ).toEqual([{ donor_name: null, message: null }]);

    const again = { amountCents: 1n, currency: "eur", donorName: "Ada", donatedAt };
    await services.donations.createDonation({ ...donation.key, ...again });
    expect(await donation.pay()).toEqual(deleted);
    expect(await donation.delete()).toEqual(deleted);
    expect(await donation.refund(400n, "refund 1")).toEqual(deleted);
    await expect(donation.refund(1n)).rejects.toMatchObject(refusal);
    await expect(donation.dispute("a")).rejects.toMatchObject(refusal);
    expect(await donation.inFeed()).toBeUndefined();
  });
});

describe("a write of a donation", () => {
  it("is refused with invalid_parameter when a text is not well-formed Unicode", async () => {
    const fields = { accountId, amountCents: 1n, currency: "eur", donatedAt };
    const externalId = unique("donation");
    const bad = [
      { externalId: "\ud83d" },
      { externalId, donorName: "a\udc00" },
      { externalId, message: "\ud83d\ud83d" },
    ];
    for (const text of bad) {
      await expect(services.donations.createDonation({ ...fields, ...text })).rejects.toMatchObject(
        { code: ErrorCode.InvalidParameter },
      );
    }
  });
});
