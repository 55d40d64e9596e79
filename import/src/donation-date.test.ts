import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DateOrder } from "./date-text.ts";
import { parseDonationDate } from "./donation-date.ts";
import { createTimeZone } from "./time-zone.ts";

function read(cell: string, zone = "Europe/Berlin", order?: DateOrder) {
  const date = parseDonationDate(cell, order, createTimeZone(zone));
  if (!date.ok) return date.reason;
  const { seconds, micros } = date.value;
  const iso = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micros === 0 ? `${iso}Z` : `${iso}.${String(micros).padStart(6, "0")}Z`;
}

describe("a date cell", () => {
  it.each([
    ["2024-01-31T12:05:59Z", "2024-01-31T12:05:59Z"],
    ["2024-01-31T12:05:59.123456+01:00", "2024-01-31T11:05:59.123456Z"],
    ["2024-01-31 12:05:59 -0330", "2024-01-31T15:35:59Z"],
    ["2024-01-31T12:05+01", "2024-01-31T11:05:00Z"],
    ["2024-01-31 12:05:59 UTC", "2024-01-31T12:05:59Z"],
    ["2024-01-31 12:05", "2024-01-31T11:05:00Z"],
    ["2024-07-31 12:05:59.000001", "2024-07-31T10:05:59.000001Z"],
    ["2024-01-31", "2024-01-30T23:00:00Z"],
    ["2024/1/5 07:08", "2024-01-05T06:08:00Z"],
    ["31.01.2024 12:05", "2024-01-31T11:05:00Z"],
    ["1.2.2024, 12:05 Uhr", "2024-02-01T11:05:00Z"],
    ["31/01/2024 12:05", "2024-01-31T11:05:00Z"],
    ["01/31/2024 3:05 PM", "2024-01-31T14:05:00Z"],
    ["01/31/2024, 3:05\u202fPM", "2024-01-31T14:05:00Z"],
    ["31.01.2024\u00a012:05\u00a0Uhr", "2024-01-31T11:05:00Z"],
    ["01/31/2024 12:05:06 a.m.", "2024-01-30T23:05:06Z"],
    ["05/05/2024 00:00", "2024-05-04T22:00:00Z"],
    ["1706702759", "2024-01-31T12:05:59Z"],
    ["1706702759.5", "2024-01-31T12:05:59.500000Z"],
    ["1706702759123", "2024-01-31T12:05:59.123000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
    ["2024-01-31T12:05:59.123456000Z", "2024-01-31T12:05:59.123456Z"],
  ])("%s is %s", (cell, instant) => {
    expect(read(cell)).toBe(instant);
  });

  it.each([
    "",
    "yesterday",
    "45322.5",
    "20240131",
    "31.01.24 12:00",
    "2023-02-29",
    "2024-13-01",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "2024-01-31T24:00:00Z",
    "2024-01-31T12:05:60Z",
    "2024-01-31T12:05:59.1234567Z",
    "2024-01-31T12:05:59+19:00",
    "2024-01-31 12:05 CET",
    "2024-01-31 13:05 PM",
    "2024-01/31",
    "202401311305",
  ])("%j is refused", (cell) => {
    expect(read(cell)).toMatch(/^date: /);
  });

  it("with day and month either way round needs --dates", () => {
    expect(read("02/03/2024 12:00")).toMatch(/--dates/);
    expect(read("02/03/2024 12:00", "UTC", "dmy")).toBe("2024-03-02T12:00:00Z");
    expect(read("02/03/2024 12:00", "UTC", "mdy")).toBe("2024-02-03T12:00:00Z");
    expect(read("13/02/2024", "UTC", "mdy")).toMatch(/no such day/);
    expect(read("02.03.2024", "UTC", "mdy")).toBe("2024-03-02T00:00:00Z");
  });

  it("without an offset needs --timezone", () => {
    expect(parseDonationDate("2024-01-31", undefined, undefined)).toMatchObject({
      reason: expect.stringMatching(/the file's time zone, .*--timezone/),
    });
  });

  it("that the clocks skipped is refused", () => {
    expect(read("2024-03-31 02:30")).toMatch(/put forward/);
    expect(read("2024-03-31 01:59:59")).toBe("2024-03-31T00:59:59Z");
    expect(read("2024-03-31 03:00")).toBe("2024-03-31T01:00:00Z");
    expect(read("2011-12-30 12:00", "Pacific/Apia")).toMatch(/put forward/);
  });

  it("without a time is the start of its day, even where the clocks skip midnight", () => {
    expect(read("2018-11-04", "America/Sao_Paulo")).toBe("2018-11-04T03:00:00Z");
    expect(read("26.04.2024", "Africa/Cairo")).toBe("2024-04-25T22:00:00Z");
    expect(read("2018-11-04 00:00", "America/Sao_Paulo")).toMatch(/put forward/);
    expect(read("2011-12-30", "Pacific/Apia")).toMatch(/put forward/);
  });

  it("may be in a zone whose offset has seconds", () => {
    expect(read("1971-06-01 00:00:00", "Africa/Monrovia")).toBe("1971-06-01T00:44:30Z");
  });

  it("that the clocks showed twice is the first of the two", () => {
    expect(read("2024-10-27 02:30")).toBe("2024-10-27T00:30:00Z");
    expect(read("2024-10-27 03:00")).toBe("2024-10-27T02:00:00Z");
    expect(read("2024-04-07 01:45", "Australia/Lord_Howe")).toBe("2024-04-06T14:45:00Z");
  });

  it("written as any zone's wall clock comes back as the same moment, or the hour's first", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"];
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2_000_000_000 }),
        fc.integer({ min: 0, max: 999_999 }),
        fc.constantFrom(...zones),
        (seconds, micros, zone) => {
          const wall = new Date(seconds * 1000).toLocaleString("sv", { timeZone: zone });
          const cell = `${wall}.${String(micros).padStart(6, "0")}`;
          const date = parseDonationDate(cell, undefined, createTimeZone(zone));
          const found = date.ok ? date.value : { seconds: Number.NaN, micros: -1 };
          expect(found.micros).toBe(micros);
          expect([seconds, seconds - 3600]).toContain(found.seconds);
          expect(new Date(found.seconds * 1000).toLocaleString("sv", { timeZone: zone })).toBe(
            wall,
          );
        },
      ),
    );
  });

  // With quadratic time, this takes minutes.
  it("that is very long is refused in time that grows with its length only", {
    timeout: 10_000,
  }, () => {
    const zeros = "0".repeat(200_000);
    for (const date of ["1706702759", "2024-01-31 12:05:59"]) {
      expect(read(`${date}.${zeros}1`)).toBe("date: finer than a microsecond");
    }
  });

  it("that is any text is read or refused, and never throws", () => {
    fc.assert(
      fc.property(fc.string(), (cell) => {
        expect(read(cell)).toEqual(expect.any(String));
      }),
    );
  });
});

it("a time zone has an IANA name", () => {
  expect(createTimeZone("Europe/Atlantis")).toBeUndefined();
});
