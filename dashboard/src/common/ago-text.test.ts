import { expect, it } from "vitest";
import { agoText } from "./ago-text.ts";

it.each([
  [-5_000, "just now"],
  [59_999, "just now"],
  [120_000, "2 min ago"],
  [7_200_000, "2 hr ago"],
  [3 * 86_400_000, "3 days ago"],
  [7 * 86_400_000, undefined],
])("writes %i ms as %s", (milliseconds, text) => {
  expect(agoText(milliseconds)).toBe(text);
});
