import {
  type Activity,
  ActivitySchema,
  ActivityType,
  GetMeResponseSchema,
  ListActivitiesResponseSchema,
  Platform,
  Unit,
} from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderActivity } from "./activity.ts";
import { renderMe } from "./me.ts";
import { renderPage } from "./page.ts";
import { renderTimestamp } from "./timestamp.ts";

const YEAR_1 = -62_135_596_800;
const YEAR_9999_END = 253_402_300_799;

/** Returns the expected time, with six digits, by JavaScript's own calendar. */
function reference(seconds: number, micros: number): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return `${whole}.${String(micros).padStart(6, "0")}Z`;
}

const time = fc
  .tuple(fc.integer({ min: YEAR_1, max: YEAR_9999_END }), fc.nat(999_999))
  .map(([seconds, micros]) => ({ seconds: BigInt(seconds), nanos: micros * 1000 }));

const text = fc.option(fc.string({ unit: "binary" }), { nil: undefined });
const amount = fc.bigInt(0n, BigInt(Number.MAX_SAFE_INTEGER));

const activity = fc
  .record({
    type: fc.constantFrom(ActivityType.DONATION, ActivityType.CHEER, ActivityType.RAID),
    platform: fc.constantFrom(Platform.SERVICE, Platform.LIVE_PLATFORM_4, Platform.CSV),
    occurredAt: time,
    recordedAt: time,
    actorName: text,
    message: fc.oneof(
      text,
      fc.constantFrom("\ud800", "\udc00x", "\u0000", "\u2028", "👩‍👩‍👧", '"\\'),
    ),
    value: amount,
    unit: fc.constantFrom(Unit.CENTS, Unit.DIAMONDS, Unit.VIEWERS),
    currency: fc.option(fc.constantFrom("eur", "jpy"), { nil: undefined }),
    refunded: fc.option(amount, { nil: undefined }),
  })
  .map(({ actorName, message, currency, refunded, ...rest }) =>
    create(ActivitySchema, {
      ...rest,
      id: "don_0123456789abcde",
      ...(actorName !== undefined && { actorName }),
      ...(message !== undefined && { message }),
      ...(currency !== undefined && { currency }),
      ...(refunded !== undefined && { refundedAmountCents: refunded }),
    }),
  );

/** The contract's word for an enum's member is its name in lower case. */
function wordOf(members: Readonly<Record<string, number>>, member: number): string | undefined {
  return Object.keys(members)
    .find((name) => members[name] === member)
    ?.toLowerCase();
}

function expectedFrom(from: Activity) {
  const shown = (at: Activity["occurredAt"]) =>
    at && reference(Number(at.seconds), Math.floor(at.nanos / 1000));
  return {
    id: from.id,
    type: wordOf(ActivityType, from.type),
    platform: wordOf(Platform, from.platform),
    occurred_at: shown(from.occurredAt),
    recorded_at: shown(from.recordedAt),
    actor: { name: from.actorName ?? null },
    message: from.message ?? null,
    value: Number(from.value),
    unit: wordOf(Unit, from.unit),
    currency: from.currency ?? null,
    refunded_amount_cents:
      from.refundedAmountCents === undefined ? null : Number(from.refundedAmountCents),
  };
}

describe("§2 rendered JSON", () => {
  it("writes every field of an activity, in the contract's order, as JSON.stringify would", () => {
    fc.assert(
      fc.property(activity, (one) => {
        const rendered = renderActivity(one);
        expect(rendered).toBe(JSON.stringify(expectedFrom(one)));
        expect(rendered.isWellFormed()).toBe(true);
      }),
    );
  });

  it("writes a page with both top-level fields, empty or not", () => {
    expect(renderPage(create(ListActivitiesResponseSchema))).toBe(
      '{"data":[],"pagination":{"has_more":false,"next_cursor":null}}',
    );
    fc.assert(
      fc.property(fc.array(activity, { maxLength: 4 }), (activities) => {
        const page = create(ListActivitiesResponseSchema, { hasMore: true, nextCursor: 'a"b' });
        page.activities = activities;
        expect(renderPage(page)).toBe(
          JSON.stringify({
            data: activities.map(expectedFrom),
            pagination: { has_more: true, next_cursor: 'a"b' },
          }),
        );
      }),
      { numRuns: 30 },
    );
  });

  it("writes times with six digits and Z, from year 0001 to 9999, before 1970 too", () => {
    const shown = (seconds: number, micros: number) =>
      renderTimestamp({
        $typeName: "google.protobuf.Timestamp",
        seconds: BigInt(seconds),
        nanos: micros * 1000,
      });
    expect(shown(YEAR_1, 0)).toBe("0001-01-01T00:00:00.000000Z");
    expect(shown(YEAR_9999_END, 999_999)).toBe("9999-12-31T23:59:59.999999Z");
    expect(shown(-1, 1)).toBe("1969-12-31T23:59:59.000001Z");
    expect(() => shown(YEAR_9999_END + 1, 0)).toThrow(RangeError);
    expect(() => shown(YEAR_1 - 1, 0)).toThrow(RangeError);
    fc.assert(
      fc.property(time, ({ seconds, nanos }) => {
        expect(shown(Number(seconds), nanos / 1000)).toBe(reference(Number(seconds), nanos / 1000));
      }),
      { numRuns: 2000 },
    );
  });

  it("refuses a message that lacks a field instead of leaving it out", () => {
    expect(() => renderActivity(create(ActivitySchema, { id: "x" }))).toThrow("lacks a field");
    expect(() => renderMe(create(GetMeResponseSchema))).toThrow("lacks a field");
  });
});
