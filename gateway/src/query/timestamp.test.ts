import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asJson, compileSchema, openapi } from "../../../test/contract/openapi-document.ts";
import { findTimestamp } from "./timestamp.ts";

const { QueryTime } = asJson(asJson(openapi.components).schemas);
/** Adds `format`, which refuses dates that do not exist. QueryTime says why openapi.yaml has no `format`. */
const isDescribed = compileSchema({ ...asJson(QueryTime), format: "date-time" });

describe("§4.2 a time in a query", () => {
  it.each([
    ["1970-01-01T00:00:00Z", 0n, 0],
    ["1969-12-31T23:59:59.999999Z", -1n, 999_999_000],
    ["2024-02-29T12:00:00.5Z", 1_709_208_000n, 500_000_000],
    ["2000-02-29T00:00:00.000001Z", 951_782_400n, 1000],
    ["0001-01-01T00:00:00Z", -62_135_596_800n, 0],
    ["9999-12-31T23:59:59.999999Z", 253_402_300_799n, 999_999_000],
  ])("%s is read to the microsecond", (text, seconds, nanos) => {
    expect(findTimestamp(text)).toMatchObject({ seconds, nanos });
    expect(isDescribed(text)).toBe(true);
  });

  it.each([
    "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2024-04-31T00:00:00Z",
    "2024-13-01T00:00:00Z",
    "2024-00-01T00:00:00Z",
    "2024-01-00T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:60:00Z",
    "2016-12-31T23:59:60Z",
    "2024-01-01T00:00:00",
    "2024-01-01T00:00:00z",
    "2024-01-01t00:00:00Z",
    "2024-01-01 00:00:00Z",
    "2024-01-01T00:00:00+00:00",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00.1234567Z",
    "2024-01-01T00:00:00,5Z",
    "2024-01-01T00:00Z",
    "2024-01-01",
    "+2024-01-01T00:00:00Z",
    "12024-01-01T00:00:00Z",
    "2024-01-01T00:00:00Z\n",
    "٢٠٢٤-01-01T00:00:00Z",
  ])("%s is refused", (text) => {
    expect(findTimestamp(text)).toBeUndefined();
    expect(isDescribed(text)).toBe(false);
  });

  it("is read to the microsecond, from year 0001 to 9999", () => {
    const seconds = fc.bigInt(-62_135_596_800n, 253_402_300_799n);
    fc.assert(
      fc.property(seconds, fc.nat(999_999), (second, micros) => {
        const time = {
          $typeName: "google.protobuf.Timestamp" as const,
          seconds: second,
          nanos: micros * 1000,
        };
        const whole = new Date(Number(second) * 1_000).toISOString().slice(0, 19);
        const text = `${whole}.${String(micros).padStart(6, "0")}Z`;
        expect(findTimestamp(text)).toEqual(time);
      }),
      { numRuns: 2000 },
    );
  });
});
