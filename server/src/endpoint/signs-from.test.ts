import { expect, it } from "vitest";
import { timestampFromMicros } from "../common/timestamps.ts";
import { parseSignsFrom } from "./signs-from.ts";

const NOW = 1_700_000_000_000_000;
const DAY = 86_400_000_000;
const parse = (micros: number) => parseSignsFrom(timestampFromMicros(micros), NOW);

it("a new secret signs from now, or from a time up to 24 hours ahead, to the microsecond", () => {
  expect(parseSignsFrom(undefined, NOW)).toBeUndefined();
  for (const micros of [NOW + 1, NOW + 3_600_000_001, NOW + DAY])
    expect(parse(micros)).toBe(micros);
});

it.each([
  ["the beginning of 1970", 0],
  ["a second ago", NOW - 1_000_000],
  ["now", NOW],
  ["a microsecond over a day ahead", NOW + DAY + 1],
  ["milliseconds instead of seconds", NOW * 1000],
])("a new secret cannot sign from %s", (_, micros) => {
  expect(() => parse(micros)).toThrow("signs_from accepts");
});
