import { afterAll, beforeAll, expect, it } from "vitest";
import {
  BOUND_MS,
  BUSY_ENDPOINTS,
  type FairnessStack,
  startFairnessStack,
} from "./harness-fairness.ts";

let fairness: FairnessStack;
beforeAll(async () => {
  fairness = await startFairnessStack({ DELIVERY_WORKFLOWS: "all" });
});
afterAll(() => fairness.stop());

it("keeps a first attempt within 2 seconds beside endpoints that hang, when every run is a workflow", async () => {
  // Until its worker runs nothing is attempted at all.
  await fairness.firstAttemptsFor(3_000);
  await fairness.writeBacklog();
  const took = await fairness.firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(fairness.busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);
