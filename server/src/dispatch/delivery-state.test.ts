import { AttemptOutcome } from "@activity/proto";
import { expect, it } from "vitest";
import { DeliveryState, OUTCOMES_IN, stateAfterAttempt } from "./delivery-state.ts";

const outcomes = Object.values(AttemptOutcome).filter(
  (outcome) => outcome !== AttemptOutcome.UNSPECIFIED,
);

it.each(outcomes)(
  "what an attempt makes of its delivery can be listed: outcome %i, ADR 0026",
  (outcome) => {
    for (const isLast of [false, true]) {
      expect(OUTCOMES_IN[stateAfterAttempt(outcome, isLast)]).toContain(outcome);
    }
    if (outcome === AttemptOutcome.DELIVERED) return;
    // What fails may be canceled, or its donation deleted, before it is tried again.
    expect(OUTCOMES_IN[DeliveryState.Canceled]).toContain(outcome);
    expect(OUTCOMES_IN[DeliveryState.Erased]).toContain(outcome);
  },
);
