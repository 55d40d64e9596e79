import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCursorKey, parseCursor, signCursor } from "./activity-cursor.ts";
import type { ActivityQuery } from "./activity-query.ts";

const secret = randomBytes(32);
const key = createCursorKey(secret);
const ofAnotherInstance = createCursorKey(Buffer.from(secret));
const account = "abcdefghijklmno";
const query: ActivityQuery = {
  limit: 50,
  ascending: true,
  type: 0,
  platform: 0,
  sinceMicros: undefined,
  untilMicros: undefined,
};
const position = { recordedAtMicros: 1_790_000_000_123_456, recordKey: "000000000000001d" };
const cursor = signCursor(key, account, query, position);

const recordKey = fc.stringMatching(/^[a-z0-9]{15}[de]$/);
const micros = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const positions = fc.record({ recordedAtMicros: micros, recordKey });
const queries = fc.record({
  limit: fc.integer({ min: 1, max: 100 }),
  ascending: fc.boolean(),
  type: fc.integer({ min: 0, max: 6 }),
  platform: fc.integer({ min: 0, max: 10 }),
  sinceMicros: fc.option(micros, { nil: undefined }),
  untilMicros: fc.option(micros, { nil: undefined }),
});
const expectRefused = (text: string, keys = [key], of = account, by = query) =>
  expect(() => parseCursor(keys, of, by, text)).toThrow(
    expect.objectContaining({ code: "invalid_cursor" }),
  );

describe("a cursor", () => {
  it("§4.2 returns its position for the account, order and filters it was issued for, on every instance", () => {
    fc.assert(
      fc.property(positions, queries, (at, by) => {
        const issued = signCursor(key, account, by, at);
        expect(parseCursor([ofAnotherInstance], account, by, issued)).toEqual(at);
        expect(parseCursor([key], account, { ...by, limit: 7 }, issued)).toEqual(at);
        expect(issued.length).toBeLessThanOrEqual(2048);
      }),
    );
  });

  it("is refused with any one bit of it flipped", () => {
    const bytes = Buffer.from(cursor, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expectRefused(flipped.toString("base64url"));
    }
  });

  it("is refused in any spelling but its own", () => {
    for (let end = 0; end < cursor.length; end++) expectRefused(cursor.slice(0, end));
    for (const more of ["A", "=", "==", " ", "\n", "\0"]) {
      expectRefused(cursor + more);
      expectRefused(more + cursor);
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        if (text !== cursor) expectRefused(text);
      }),
    );
  });

  it("§4.2 is refused for another account, order or filter", () => {
    expectRefused(cursor, [key], "000000000000000");
    fc.assert(
      fc.property(queries, (by) => {
        const same = JSON.stringify({ ...by, limit: 0 }) === JSON.stringify({ ...query, limit: 0 });
        if (!same) expectRefused(cursor, [key], account, by);
      }),
    );
  });

  it("compares times to the microsecond, also in years beyond 2^53", () => {
    const since = { ...query, sinceMicros: 253_402_300_799_999_999n };
    const issued = signCursor(key, account, since, position);
    expect(parseCursor([key], account, { ...since }, issued)).toEqual(position);
    expectRefused(issued, [key], account, { ...query, sinceMicros: 253_402_300_799_999_998n });
  });

  it("works after its key is replaced, until that key is removed", () => {
    const next = createCursorKey(randomBytes(32));
    expect(parseCursor([next, key], account, query, cursor)).toEqual(position);
    expectRefused(cursor, [next]);
  });
});
