import { expect, it } from "vitest";
import { createAttemptSlots } from "./attempt-slots.ts";

it("gives an endpoint its slots and no more, whatever others have. ADR 0028", () => {
  const slots = createAttemptSlots({ perEndpoint: 2, total: 10 });
  const giveBack = slots.take("a");
  expect([slots.take("a"), slots.take("b")]).not.toContain(undefined);
  expect(slots.take("a")).toBeUndefined();
  giveBack?.();
  expect(slots.take("a")).toBeDefined();
});

it("gives no more than the total", () => {
  const slots = createAttemptSlots({ perEndpoint: 2, total: 3 });
  const taken = ["a", "a", "b", "b", "c"].map((endpoint) => slots.take(endpoint));
  expect(taken.map((slot) => slot !== undefined)).toEqual([true, true, true, false, false]);
});
