import * as proto from "@activity/proto";
import { describe, expect, it } from "vitest";
import {
  DisputeState,
  DonationChange,
  DonationStatus,
  isAllowed,
  isVisible,
  paymentStatus,
} from "./donation-status.ts";

const { Open, Won, Lost } = DisputeState;
const statuses = Object.values(DonationStatus);

it("has the numbers of the proto", () => {
  const names = (values: Record<string, number>) =>
    Object.entries(values).map(([name, value]) => [name.replaceAll("_", "").toLowerCase(), value]);
  expect([["unspecified", 0], ...names(DonationStatus)]).toEqual(names(proto.DonationStatus));
  expect([Won, Lost]).toEqual([proto.DisputeOutcome.WON, proto.DisputeOutcome.LOST]);
});

describe("a change to a donation", () => {
  it("is never allowed once it is deleted", () => {
    const allowed = Object.values(DonationChange).filter((change) =>
      isAllowed(change, DonationStatus.Deleted),
    );
    expect(allowed).toEqual([]);
  });

  it("is only a payment or a deletion before it is paid", () => {
    const allowed = Object.values(DonationChange).filter((change) =>
      isAllowed(change, DonationStatus.Created),
    );
    expect(allowed).toEqual([DonationChange.Pay, DonationChange.Delete]);
  });

  it("is no refund once the supporter has got everything back", () => {
    expect(isAllowed(DonationChange.Refund, DonationStatus.Refunded)).toBe(false);
    expect(isAllowed(DonationChange.Refund, DonationStatus.DisputeLost)).toBe(false);
  });
});

describe("the status of a paid donation", () => {
  it.each([
    { refunded: 0, disputes: [], status: DonationStatus.Paid },
    { refunded: 99, disputes: [], status: DonationStatus.Paid },
    { refunded: 100, disputes: [], status: DonationStatus.Refunded },
    { refunded: 0, disputes: [Open], status: DonationStatus.Disputed },
    { refunded: 100, disputes: [Open], status: DonationStatus.Disputed },
    { refunded: 0, disputes: [Won, Won], status: DonationStatus.Paid },
    { refunded: 0, disputes: [Won, Open], status: DonationStatus.Disputed },
    { refunded: 0, disputes: [Lost, Open], status: DonationStatus.Disputed },
    { refunded: 100, disputes: [Won], status: DonationStatus.Refunded },
    { refunded: 100, disputes: [Won, Lost], status: DonationStatus.DisputeLost },
  ])("is $status with $refunded of 100 refunded and disputes $disputes", (example) => {
    const { refunded, disputes, status } = example;
    const facts = { amountCents: 100, refundedAmountCents: refunded, disputes };
    expect(paymentStatus(facts)).toBe(status);
  });

  it("is paid for a donation of 0 cents", () => {
    const facts = { amountCents: 0, refundedAmountCents: 0, disputes: [] };
    expect(paymentStatus(facts)).toBe(DonationStatus.Paid);
  });
});

it("shows only paid donations that are not tests", () => {
  const visible = statuses.filter((status) => isVisible({ status, test: false }));
  expect(visible).toEqual([DonationStatus.Paid]);
  expect(statuses.some((status) => isVisible({ status, test: true }))).toBe(false);
});
