import { expect, it } from "vitest";
import { retryActions } from "./retry-actions.ts";

it("docs/scale.md: a run of k retries, 7 at most, costs Temporal 2k actions", () => {
  const actions = retryActions().map(({ retries, actions }) => [retries, actions]);
  expect(actions).toEqual([1, 2, 3, 4, 5, 6, 7].map((retries) => [retries, 2 * retries]));
});
