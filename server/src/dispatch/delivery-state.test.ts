import { AttemptOutcome } from "@activity/proto";
import { expect, it } from "vitest";
import { WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";
import { DeliveryState, OUTCOMES_IN, stateAfterAttempt } from "./delivery-state.ts";

const outcomes = Object.values(AttemptOutcome).filter(
  (outcome) => outcome !== AttemptOutcome.UNSPECIFIED,
);

it.each(outcomes)(
  "a delivery can be listed after an attempt with outcome %i, ADR 0026",
  (outcome) => {
    for (const isLast of [false, true]) {
      expect(OUTCOMES_IN[stateAfterAttempt(outcome, isLast)]).toContain(outcome);
    }
    if (outcome === AttemptOutcome.DELIVERED) return;
    // A delivery may be canceled or erased after any failed attempt.
    expect(OUTCOMES_IN[DeliveryState.Canceled]).toContain(outcome);
    expect(OUTCOMES_IN[DeliveryState.Erased]).toContain(outcome);
  },
);

it("ADR 0026: a list by endpoint reads 168 ranges, none of ended runs without the outcome that ended them", () => {
  const kinds = Object.values(WebhookEventKind);
  expect(Object.values(OUTCOMES_IN).flat().length * kinds.length).toBe(168);
  // deploy/restored.sql sets pending runs, which have no outcome, to retrying.
  expect(OUTCOMES_IN[DeliveryState.Retrying]).toContain(undefined);
  // Only an attempt leads to these states, so its outcome is known.
  for (const state of [DeliveryState.Delivered, DeliveryState.Failed]) {
    expect(OUTCOMES_IN[state]).not.toContain(undefined);
  }
});
