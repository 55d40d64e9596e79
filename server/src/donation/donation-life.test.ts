import fc from "fast-check";
import { expect, it } from "vitest";
import { DomainError, ErrorCode } from "../common/errors.ts";
import {
  type DonationState,
  deleteDonation,
  openDispute,
  payDonation,
  refundDonation,
  resolveDispute,
} from "./donation-changes.ts";
import { DisputeState, DonationStatus, isVisible } from "./donation-status.ts";

const AMOUNT = 1000;
const FIRST_PAID_AT = 1_600_000_000_000_000;

type Command =
  | { readonly kind: "pay" }
  | { readonly kind: "refund"; readonly id: string; readonly cents: number }
  | { readonly kind: "dispute"; readonly id: string }
  | { readonly kind: "resolve"; readonly id: string; readonly outcome: DisputeState }
  | { readonly kind: "delete" };

/** A donation's life in the words of the contract: what happened to it, and nothing else. */
type Life = {
  paid: boolean;
  deleted: boolean;
  refunds: Map<string, number>;
  disputes: Map<string, DisputeState>;
};

const refunded = ({ refunds }: Life) =>
  [...refunds.values()].reduce((sum, cents) => sum + cents, 0);
const has = ({ disputes }: Life, state: DisputeState) => [...disputes.values()].includes(state);

function statusOf(life: Life): DonationStatus {
  if (life.deleted) return DonationStatus.Deleted;
  if (!life.paid) return DonationStatus.Created;
  if (has(life, DisputeState.Open)) return DonationStatus.Disputed;
  if (has(life, DisputeState.Lost)) return DonationStatus.DisputeLost;
  return refunded(life) === AMOUNT ? DonationStatus.Refunded : DonationStatus.Paid;
}

/** Makes a command happen in the model, and tells whether it changed something, nothing, or is refused. */
function live(life: Life, command: Command): "changed" | "unchanged" | "refused" {
  const isOpenToPayments = life.paid && !life.deleted;
  switch (command.kind) {
    case "pay":
      if (life.paid) return "unchanged";
      if (life.deleted) return "refused";
      life.paid = true;
      return "changed";
    case "refund": {
      if (life.refunds.has(command.id)) return "unchanged";
      const isLost = has(life, DisputeState.Lost) && !has(life, DisputeState.Open);
      const isTooMuch = refunded(life) + command.cents > AMOUNT;
      if (!isOpenToPayments || isLost || isTooMuch) return "refused";
      life.refunds.set(command.id, command.cents);
      return "changed";
    }
    case "dispute":
      if (life.disputes.has(command.id)) return "unchanged";
      if (!isOpenToPayments) return "refused";
      life.disputes.set(command.id, DisputeState.Open);
      return "changed";
    case "resolve": {
      const state = life.disputes.get(command.id);
      if (state === command.outcome) return "unchanged";
      if (state !== DisputeState.Open || !isOpenToPayments) return "refused";
      life.disputes.set(command.id, command.outcome);
      return "changed";
    }
    case "delete":
      if (life.deleted) return "unchanged";
      life.deleted = true;
      return "changed";
  }
}

function decide(state: DonationState, command: Command) {
  switch (command.kind) {
    case "pay":
      return payDonation(state, FIRST_PAID_AT);
    case "refund":
      return refundDonation(state, Buffer.from(command.id), command.cents);
    case "dispute":
      return openDispute(state, Buffer.from(command.id));
    case "resolve":
      return resolveDispute(state, Buffer.from(command.id), command.outcome);
    case "delete":
      return deleteDonation(state);
  }
}

/** What is stored after a change: of refunds and disputes, the ones that the model knows. */
function storedAfter(donation: DonationState["donation"], life: Life): DonationState {
  return {
    donation,
    refunds: Array.from(life.refunds.keys(), (id) => ({ externalId: Buffer.from(id) })),
    disputes: Array.from(life.disputes, ([id, state]) => ({ externalId: Buffer.from(id), state })),
  };
}

const NEW: DonationState["donation"] = {
  ...{ accountNo: 1, platform: 1, externalId: Buffer.from("d"), recordId: "0".repeat(15) },
  ...{ status: DonationStatus.Created, amountCents: AMOUNT, currency: "eur" },
  ...{ refundedAmountCents: 0, donorName: "Ada", message: "hello", donatedAt: 1, test: false },
  ...{ recordedAt: undefined, subscriptionId: undefined },
};

const refundId = fc.constantFrom("r1", "r2", "r3");
const disputeId = fc.constantFrom("d1", "d2");
const cents = fc.constantFrom(1, 400, 600, AMOUNT);
const outcome = fc.constantFrom(DisputeState.Won, DisputeState.Lost);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: "pay" as const }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("refund" as const), id: refundId, cents }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("dispute" as const), id: disputeId }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("resolve" as const), id: disputeId, outcome }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "delete" as const }) },
);

it("§2.1, §3, ADR 0010: any sequence of changes makes of a donation what a model of its life says", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const life: Life = { paid: false, deleted: false, refunds: new Map(), disputes: new Map() };
      let state = storedAfter(NEW, life);
      for (const each of commands) {
        const before = state;
        const expected = live(life, each);
        if (expected === "refused") {
          const refusal = { code: ErrorCode.DonationTransitionRefused };
          expect(() => decide(before, each)).toThrow(expect.objectContaining(refusal));
          expect(() => decide(before, each)).toThrow(DomainError);
          continue;
        }
        const { donation, changes, feed } = decide(before, each);
        // What was made before is answered with the very record, and writes nothing.
        expect(donation === before.donation).toBe(expected === "unchanged");
        expect(changes !== undefined).toBe(expected === "changed");
        // A change of what a page shows moves the feed's clock.
        const shown = (each: typeof donation) => isVisible(each) && each.refundedAmountCents;
        if (shown(donation) !== shown(before.donation)) expect(feed?.length).toBe(1);
        expect(donation.status).toBe(statusOf(life));
        expect(donation.refundedAmountCents).toBe(refunded(life));
        expect(donation.recordedAt).toBe(life.paid ? FIRST_PAID_AT : undefined);
        expect(donation.donorName).toBe(life.deleted ? undefined : "Ada");
        expect(isVisible(donation)).toBe(statusOf(life) === DonationStatus.Paid);
        state = storedAfter(donation, life);
      }
    }),
    { numRuns: 3_000 },
  );
});
