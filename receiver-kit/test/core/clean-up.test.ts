import { expect, it } from "vitest";
import { createCleanUp } from "../../src/once/clean-up.ts";

it("deletes old ids with a chance of 1 in 64, so that short-lived instances do it too", async () => {
  let draw = 0;
  let deletions = 0;
  const store = {
    async deleteExpired() {
      deletions += 1;
      return 0;
    },
  };
  // Each instance handles only one event.
  for (; draw < 640; draw += 1) await createCleanUp(store, () => (draw % 640) / 640)();
  expect(deletions).toBe(10);
});
