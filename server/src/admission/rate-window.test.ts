import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rateLimit, rateLimitPolicy, rateWindowFromRing } from "./rate-window.ts";

const LIMIT = 5;
const MINUTE_MICROS = 60_000_000;
const START = 1_790_000_000_000_000;

/** Writes admissions as the database does: appends until the ring is full, then replaces the oldest. */
function ringOf(times: readonly number[]): Buffer {
  const ring = Buffer.alloc(Math.min(times.length, LIMIT) * 8);
  for (const [index, time] of times.entries()) {
    ring.writeBigUInt64BE(BigInt(time), (index % LIMIT) * 8);
  }
  return ring;
}

describe("what is left of a limit", () => {
  it("is the limit less the admissions of the last 60 seconds, until the oldest of them leaves", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 40_000_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 0, max: 70_000_000 }), (steps, later) => {
        let at = START;
        const times = steps.map((step) => (at += step));
        const now = at + later;
        const recent = times.slice(-LIMIT).filter((time) => time > now - MINUTE_MICROS);
        const oldest = recent[0];
        expect(rateWindowFromRing(ringOf(times), times.length, LIMIT, now)).toEqual({
          remaining: LIMIT - recent.length,
          resetSeconds:
            oldest === undefined ? 0 : Math.ceil((oldest + MINUTE_MICROS - now) / 1_000_000),
        });
      }),
      {
        examples: [
          [[], 0],
          [[0], MINUTE_MICROS - 1],
          [[0], MINUTE_MICROS],
        ],
      },
    );
  });

  it("is shown in the fields of the IETF draft", () => {
    expect(rateLimitPolicy(120)).toBe('"account";q=120;w=60');
    expect(rateLimit({ remaining: 3, resetSeconds: 7 })).toBe('"account";r=3;t=7');
  });
});
