import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { microsFromTimestamp, timestampFromMicros } from "./timestamps.ts";

const FIRST = -62_135_596_800_000_000n; // 0001-01-01T00:00:00Z
const LAST = 253_402_300_799_999_999n; // 9999-12-31T23:59:59.999999Z

describe("stored times", () => {
  it("are converted exactly from year 0001 to year 9999, in each form that the driver gives", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: FIRST, max: LAST }), (micros) => {
        const stored = microsFromTimestamp(timestampFromMicros(micros), "time");
        expect(BigInt(stored)).toBe(micros);
        const column = typeof stored === "number" ? stored : stored.toString();
        expect(timestampFromMicros(column)).toEqual(timestampFromMicros(micros));
      }),
      { examples: [[FIRST], [LAST], [-1n], [0n], [1_709_164_800_000_001n]] },
    );
  });

  it.each([
    ["a time before year 0001", { seconds: -62_135_596_801n, nanos: 0 }],
    ["a time after year 9999", { seconds: 253_402_300_800n, nanos: 0 }],
    ["less than a microsecond", { seconds: 0n, nanos: 1 }],
    ["negative nanoseconds", { seconds: 0n, nanos: -1000 }],
    ["a whole second of nanoseconds", { seconds: 0n, nanos: 1_000_000_000 }],
  ])("refuse %s", (_name, parts) => {
    const timestamp = { $typeName: "google.protobuf.Timestamp" as const, ...parts };
    expect(() => microsFromTimestamp(timestamp, "since")).toThrow(/^since accepts/);
  });
});
