import { ActivitySchema, Unit } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { amountText, valueText } from "./value-text.ts";

it.each([
  [500, "eur", "€5.00"],
  [500, "jpy", "JP¥500"],
  [1_234, "bhd", "BHD 1.234"],
  [123_450, "huf", "HUF 1,234.50"],
  [12_345, "iqd", "IQD 12.345"],
  [12_345, "clf", "CLF 1.2345"],
  [9_007_199_254_740_991, "eur", "€90,071,992,547,409.91"],
  [5, undefined, "5"],
  [5, "??", "5"],
])("writes %s of %s in the smallest unit as %s. §2.2", (amount, currency, text) => {
  expect(amountText(amount, currency).replace("\u00a0", " ")).toBe(text);
});

it.each([
  [Unit.NONE, 0, ""],
  [Unit.MONTHS, 1, "1 month"],
  [Unit.SUBSCRIPTIONS, 5, "5 subscriptions"],
  [Unit.BITS, 1_000, "1,000 bits"],
  [Unit.DIAMONDS, 2, "2 diamonds"],
  [Unit.VIEWERS, 3, "3 viewers"],
])("writes unit %s and value %s as %s. §2.2", (unit, value, text) => {
  expect(valueText(create(ActivitySchema, { unit, value: BigInt(value) }))).toBe(text);
});
