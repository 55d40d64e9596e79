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

/** A model of a donation in the contract's terms. It holds only what happened to the donation. */
type Model = {
  paid: boolean;
  deleted: boolean;
  refunds: Map<string, number>;
  disputes: Map<string, DisputeState>;
};

const refunded = ({ refunds }: Model) =>
  [...refunds.values()].reduce((sum, cents) => sum + cents, 0);
const has = ({ disputes }: Model, state: DisputeState) => [...disputes.values()].includes(state);

function statusOf(model: Model): DonationStatus {
  if (model.deleted) return DonationStatus.Deleted;
  if (!model.paid) return DonationStatus.Created;
  if (has(model, DisputeState.Open)) return DonationStatus.Disputed;
  if (has(model, DisputeState.Lost)) return DonationStatus.DisputeLost;
  return refunded(model) === AMOUNT ? DonationStatus.Refunded : DonationStatus.Paid;
}

/** Applies a command to the model. Returns whether it changed something, changed nothing or was refused. */
function applyTo(model: Model, command: Command): "changed" | "unchanged" | "refused" {
  const isOpenToPayments = model.paid && !model.deleted;
  switch (command.kind) {
    case "pay":
      if (model.paid) return "unchanged";
      if (model.deleted) return "refused";
      model.paid = true;
      return "changed";
    case "refund": {
      if (model.refunds.has(command.id)) return "unchanged";
      const isLost = has(model, DisputeState.Lost) && !has(model, DisputeState.Open);
      const isTooMuch = refunded(model) + command.cents > AMOUNT;
      if (!isOpenToPayments || isLost || isTooMuch) return "refused";
      model.refunds.set(command.id, command.cents);
      return "changed";
    }
    case "dispute":
      if (model.disputes.has(command.id)) return "unchanged";
      if (!isOpenToPayments) return "refused";
      model.disputes.set(command.id, DisputeState.Open);
      return "changed";
    case "resolve": {
      const state = model.disputes.get(command.id);
      if (state === command.outcome) return "unchanged";
      if (state !== DisputeState.Open || !isOpenToPayments) return "refused";
      model.disputes.set(command.id, command.outcome);
      return "changed";
    }
    case "delete":
      if (model.deleted) return "unchanged";
      model.deleted = true;
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

/** The stored state after a change, with the model's refunds and disputes. */
function storedAfter(donation: DonationState["donation"], model: Model): DonationState {
  return {
    donation,
    refunds: Array.from(model.refunds.keys(), (id) => ({ externalId: Buffer.from(id) })),
    disputes: Array.from(model.disputes, ([id, state]) => ({ externalId: Buffer.from(id), state })),
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

it("§2.1, §3, ADR 0010: any sequence of changes gives a donation the state of the model", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const model: Model = { paid: false, deleted: false, refunds: new Map(), disputes: new Map() };
      let state = storedAfter(NEW, model);
      for (const each of commands) {
        const before = state;
        const expected = applyTo(model, each);
        if (expected === "refused") {
          const refusal = { code: ErrorCode.DonationTransitionRefused };
          expect(() => decide(before, each)).toThrow(expect.objectContaining(refusal));
          expect(() => decide(before, each)).toThrow(DomainError);
          continue;
        }
        const { donation, changes, feed } = decide(before, each);
        // A repeated change returns the same object and writes nothing.
        expect(donation === before.donation).toBe(expected === "unchanged");
        expect(changes !== undefined).toBe(expected === "changed");
        // If pages show the change, it changes the feed once.
        const shown = (each: typeof donation) => isVisible(each) && each.refundedAmountCents;
        if (shown(donation) !== shown(before.donation)) expect(feed?.length).toBe(1);
        expect(donation.status).toBe(statusOf(model));
        expect(donation.refundedAmountCents).toBe(refunded(model));
        expect(donation.recordedAt).toBe(model.paid ? FIRST_PAID_AT : undefined);
        expect(donation.donorName).toBe(model.deleted ? undefined : "Ada");
        expect(isVisible(donation)).toBe(statusOf(model) === DonationStatus.Paid);
        state = storedAfter(donation, model);
      }
    }),
    { numRuns: 3_000 },
  );
});

it("a refused change says what the donation is, and what it therefore cannot be", () => {
  const state = { donation: NEW, refunds: [], disputes: [] };
  const refund = () => refundDonation(state, Buffer.from("r1"), 1);
  expect(refund).toThrow("The donation is not paid, so it cannot be refunded.");
});

it("a refused end of an unknown dispute advises to open it only if the donation can be disputed", () => {
  const messageOf = (status: DonationStatus) => {
    const state = { donation: { ...NEW, status }, refunds: [], disputes: [] };
    return () => resolveDispute(state, Buffer.from("d1"), DisputeState.Won);
  };
  expect(messageOf(DonationStatus.Paid)).toThrow(
    "The donation has no dispute with this dispute_external_id. Open it first.",
  );
  for (const [status, word] of [
    [DonationStatus.Created, "not paid"],
    [DonationStatus.Deleted, "deleted"],
  ] as const) {
    const message = `The donation is ${word}, so it cannot be disputed.`;
    expect(messageOf(status)).toThrow(message);
  }
});

it("§2.1 a refund beyond the rest is refused with the rest, and each change stores all that belongs to it", () => {
  const paid = { ...NEW, status: DonationStatus.Paid, recordedAt: 1, refundedAmountCents: 400 };
  const state: DonationState = { donation: paid, refunds: [], disputes: [] };
  const refund = (amountCents: number) => refundDonation(state, Buffer.from("r"), amountCents);
  expect(() => refund(601)).toThrow("At most 600 cents");
  // One change updates the donation, the other stores its refund.
  expect(refund(600).changes).toHaveLength(2);
  expect(deleteDonation(state).changes?.length).toBeGreaterThan(1);
});
