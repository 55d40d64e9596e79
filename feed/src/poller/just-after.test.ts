import { expect, it } from "vitest";
import { justAfter } from "./just-after.ts";

it.each([
  ["2026-03-01T12:00:00.003417Z", "2026-03-01T12:00:00.003418Z"],
  ["2026-03-01T12:00:00.003999Z", "2026-03-01T12:00:00.004000Z"],
  ["2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00.000000Z"],
])("the microsecond after %s is %s", (time, next) => {
  expect(justAfter(time)).toBe(next);
});
