import { afterAll, beforeAll, expect, it } from "vitest";
import { BUSY_ENDPOINTS, type FairnessStack, FEW, startFairnessStack } from "./harness-fairness.ts";

let fairness: FairnessStack;
beforeAll(async () => {
  fairness = await startFairnessStack({ DELIVERY_WORKFLOWS: "all" });
});
afterAll(() => fairness.stop());

it("makes a first attempt before all but a few of a backlog of endpoints that hang, when every run is a workflow", async () => {
  // Until its worker runs nothing is attempted at all.
  await fairness.mostBeforeFirstAttempts(3_000);
  await fairness.writeBacklog();
  expect(await fairness.mostBeforeFirstAttempts(15_000)).toBeLessThan(FEW);
  expect(fairness.busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);
