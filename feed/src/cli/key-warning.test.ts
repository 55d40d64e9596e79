import { expect, it } from "vitest";
import { whenText } from "./key-warning.ts";

it.each([
  [-1, "within a day"],
  [0, "within a day"],
  [1, "within a day"],
  [2, "in 2 days"],
])("says when a key ends that has %i days left", (days, text) => {
  expect(whenText(days)).toBe(text);
});
