import { expect, it } from "vitest";
import { amountText, centsFromText } from "./min-amount.ts";

it.each([
  ["", 0n],
  ["0", 0n],
  ["5", 500n],
  [" 5.5 ", 550n],
  ["0,05", 5n],
  ["12.34", 1234n],
  ["90071992547409.91", 9_007_199_254_740_991n],
  ["90071992547409.92", undefined],
  ["-1", undefined],
  ["1.234", undefined],
  ["10,555", undefined],
  ["five", undefined],
])("reads the minimum amount %j as %s cents", (text, cents) => {
  expect(centsFromText(text)).toBe(cents);
  if (cents !== undefined) expect(centsFromText(amountText(cents))).toBe(cents);
});
