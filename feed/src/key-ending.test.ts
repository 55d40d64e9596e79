import { expect, it } from "vitest";
import { daysLeft } from "./key-ending.ts";

const NOW = "2026-03-01T12:00:00.000000Z";

it.each([
  ["2026-03-15T12:00:00.000000Z", 14],
  ["2026-03-15T12:00:00.001000Z", undefined],
  ["2026-03-02T12:00:00.000000Z", 1],
  ["2026-03-01T12:00:01.000000Z", 1],
  ["2026-02-01T12:00:00.000000Z", 0],
])("a key that ends at %s has %s days left to tell of", (expiresAt, days) => {
  expect(daysLeft(expiresAt, Date.parse(NOW))).toBe(days);
});
