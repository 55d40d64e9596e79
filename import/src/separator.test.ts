import { expect, it } from "vitest";
import { csvHeader } from "./csv-line.ts";
import { findSeparator } from "./separator.ts";

it.each([
  ["id;amount;date", ";"],
  ["id,amount,date", ","],
  ["id\tamount\tdate", "\t"],
  ['"name, first";amount', ";"],
  ['"a;b;c",amount', ","],
  ['12" disc;name;7" disc, used', ";"],
  ["amount", undefined],
  [csvHeader(["amount", "date (year, month, day)"], ";"), ";"],
])("the separator of a header line of %j is %j", (line, separator) => {
  expect(findSeparator(line)).toBe(separator);
});
