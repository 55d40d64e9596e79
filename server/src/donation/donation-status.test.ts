import { DisputeOutcome } from "@activity/proto";
import { expect, it } from "vitest";
import { DisputeState, DonationStatus, isVisible, paymentStatus } from "./donation-status.ts";

const statuses = Object.values(DonationStatus);

it("numbers the ends of disputes as the proto does", () => {
  const numbers = [DisputeState.Won, DisputeState.Lost];
  expect(numbers).toEqual([DisputeOutcome.WON, DisputeOutcome.LOST]);
});

it("a donation of 0 cents is paid, not refunded", () => {
  const facts = { amountCents: 0, refundedAmountCents: 0, disputes: [] };
  expect(paymentStatus(facts)).toBe(DonationStatus.Paid);
});

it("shows only paid donations that are not tests", () => {
  const visible = statuses.filter((status) => isVisible({ status, test: false }));
  expect(visible).toEqual([DonationStatus.Paid]);
  expect(statuses.some((status) => isVisible({ status, test: true }))).toBe(false);
});
