import { ActivityType, Platform, Unit } from "@activity/proto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { positionOf, renderPage } from "./rendered-page.ts";

/** `JSON.rawJSON`, which TypeScript's type of `JSON` lacks. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
const MICROS_MIN = -62_135_596_800_000_000n;
const MICROS_MAX = 253_402_300_799_999_999n;

const bigint = fc.oneof(
  fc.bigInt(0n, 1_000_000n),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.constantFrom(0xffff_ffffn, 0x1_0000_0000n, 2n ** 53n),
);
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 600 }),
  fc.constantFrom(
    "",
    "\u0000\u001f\u007f",
    '"\\/\n',
    "\u2028",
    "👩‍👩‍👧",
    "é".repeat(4000),
    "\u0001".repeat(4000),
  ),
);
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
/** Draws one of an enum's numbers. */
const oneOf = (...numbers: number[]) => fc.constantFrom(...numbers);
const row = fc.record({
  recordedAt: fc.bigInt(0n, 2n ** 53n - 1n),
  recordId: fc.stringMatching(/^[a-z0-9]{15}$/),
  source: fc.constantFrom("d", "e"),
  type: oneOf(ActivityType.DONATION, ActivityType.CHEER, ActivityType.RAID),
  platform: oneOf(Platform.SERVICE, Platform.LIVE_PLATFORM_4, Platform.CSV),
  unit: oneOf(Unit.CENTS, Unit.DIAMONDS, Unit.VIEWERS),
  value: bigint,
  occurredAt: orNull(
    fc.oneof(fc.bigInt(MICROS_MIN, MICROS_MAX), fc.constantFrom(MICROS_MIN, -1n, MICROS_MAX)),
  ),
  currency: orNull(fc.constantFrom("eur", "jpy")),
  refunded: orNull(bigint),
  name: orNull(text),
  message: orNull(text),
});
type Row = typeof row extends fc.Arbitrary<infer Of> ? Of : never;

/** Encodes a row as MySQL's binary protocol does. */
function rawRow(of: Row): Buffer {
  const { type, platform, unit } = of;
  const rest = [of.occurredAt, of.currency, of.refunded, of.name, of.message];
  const nulls = Buffer.alloc(3);
  nulls.writeUInt16LE(
    rest.reduce(
      (bits: number, value, place) => (value === null ? bits | (1 << (8 + place)) : bits),
      0,
    ),
    1,
  );
  return Buffer.concat([
    ...[nulls, bytesOf(of.recordedAt), bytesOf(of.recordId + of.source)],
    ...[Buffer.from([type, platform, unit]), bytesOf(of.value), ...rest.map(bytesOf)],
  ]);
}

function bytesOf(value: string | bigint | null): Buffer {
  if (value === null) return Buffer.alloc(0);
  if (typeof value === "bigint") {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  }
  const utf8 = Buffer.from(value);
  const length = utf8.length < 251 ? [utf8.length] : [252, utf8.length & 255, utf8.length >> 8];
  return Buffer.concat([Buffer.from(length), utf8]);
}

/** Returns the contract's word for an enum's member: the member's name in lower case. */
function wordOf(members: Readonly<Record<string, number>>, member: number): string | undefined {
  return Object.keys(members)
    .find((name) => members[name] === member)
    ?.toLowerCase();
}

function timeOf(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const whole = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19);
  return `${whole}.${String(fraction).padStart(6, "0")}Z`;
}

function expectedJson(of: Row): string {
  const recordedAt = timeOf(of.recordedAt);
  return JSON.stringify({
    id: (of.source === "d" ? "don_" : "evt_") + of.recordId,
    type: wordOf(ActivityType, of.type),
    platform: wordOf(Platform, of.platform),
    occurred_at: of.occurredAt === null ? recordedAt : timeOf(of.occurredAt),
    recorded_at: recordedAt,
    actor: { name: of.name },
    message: of.message,
    value: rawJSON(String(of.value)),
    unit: wordOf(Unit, of.unit),
    currency: of.currency,
    refunded_amount_cents: of.refunded === null ? null : rawJSON(String(of.refunded)),
  });
}

describe("§2 a page rendered from the database's bytes", () => {
  it("has every field of each row, in the contract's order, as JSON.stringify writes it, and its position", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.boolean(), (rows, hasMore) => {
        const raw = rows.map(rawRow);
        const json = renderPage(raw, hasMore, 'a"b').toString();
        const data = rows.map(expectedJson).join(",");
        const pagination = `{"has_more":${hasMore},"next_cursor":"a\\"b"}`;
        expect(json).toBe(`{"data":[${data}],"pagination":${pagination}}`);
        const positions = rows.map(({ recordedAt, recordId, source }) => ({
          ...{ recordedAtMicros: Number(recordedAt), recordKey: recordId + source },
        }));
        expect(raw.map(positionOf)).toEqual(positions);
      }),
    );
  });

  it("is complete without a row and without a cursor, or with a long one", () => {
    const pageWith = (cursor: string) =>
      `{"data":[],"pagination":{"has_more":false,"next_cursor":${cursor}}}`;
    expect(renderPage([], false, undefined).toString()).toBe(pageWith("null"));
    const long = "c".repeat(2_000);
    expect(renderPage([], false, long).toString()).toBe(pageWith(`"${long}"`));
  });

  it("fails if a row has an unknown number, an impossible time, or another form", () => {
    const [sample] = fc.sample(row, 1) as [Row];
    const render = (raw: Buffer) => () => renderPage([raw], false, undefined);
    expect(render(rawRow({ ...sample, unit: Unit.UNSPECIFIED }))).toThrow("lacks a field");
    expect(render(rawRow({ ...sample, type: 99 }))).toThrow("lacks a field");
    expect(render(rawRow({ ...sample, occurredAt: MICROS_MAX + 1n }))).toThrow(RangeError);
    expect(render(rawRow({ ...sample, occurredAt: MICROS_MIN - 1n }))).toThrow(RangeError);
    expect(render(Buffer.concat([rawRow(sample), Buffer.alloc(1)]))).toThrow("another form");
  });
});
