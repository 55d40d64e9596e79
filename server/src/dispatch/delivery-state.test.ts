import { AttemptOutcome } from "@activity/proto";
import { expect, it } from "vitest";
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
