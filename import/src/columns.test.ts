import { describe, expect, it } from "vitest";
import { hasUtcDates, recognizeColumns } from "./columns.ts";

describe("the columns of a header", () => {
  it.each<[string, object]>([
    [
      "Transaction ID,Created At,Amount,Currency,From,Comment",
      { id: 0, date: 1, amount: 2, currency: 3, name: 4, message: 5 },
    ],
    [
      "Transaktionscode,Datum,Betrag,WÄHRUNG,Absender,Nachricht",
      { id: 0, date: 1, amount: 2, currency: 3, name: 4, message: 5 },
    ],
    [" external-id ,donated_at,amount_cents", { id: 0, date: 1, amount_cents: 2 }],
    ["Date,Time,Amount", { date: 0, time: 1, amount: 2 }],
    ["Time,Amount", { date: 0, amount: 1 }],
    ["created_at,time,amount", { date: 0, amount: 2 }],
    ["line,reason,date,amount,whatever", { date: 2, amount: 3 }],
    ["Datum,Tijd,Valuta,Bruto", { date: 0, time: 1, currency: 2, amount: 3 }],
    ["Date,Heure,Devise,Avant commission", { date: 0, time: 1, currency: 2, amount: 3 }],
    ["Fecha,Hora,Divisa,Bruto", { date: 0, time: 1, currency: 2, amount: 3 }],
    ["DateTime (UTC),Amount", { date: 0, amount: 1 }],
    ["id,Created date (UTC),Amount", { id: 0, date: 1, amount: 2 }],
    ["id,transaction id,date,amount", { id: 1, date: 2, amount: 3 }],
  ])("%s are recognized", (header, columns) => {
    expect(recognizeColumns(header.split(","))).toEqual(columns);
  });

  it("recognizes a header whose umlauts are composed of two characters", () => {
    expect(recognizeColumns(["date", "amount", "Wa\u0308hrung"])).toHaveProperty("currency", 2);
  });

  it("may be named by a person, in any case", () => {
    const header = ["id", "Gift amount", "when"];
    expect(recognizeColumns(header, { amount: "gift amount", date: "when", id: "" })).toEqual({
      amount: 1,
      date: 2,
    });
  });

  it("are those that a person named, even beside another amount", () => {
    const header = ["date", "total", "donation_cents"];
    const cents = { amount_cents: "donation_cents" };
    expect(recognizeColumns(header, cents)).toEqual({ date: 0, amount_cents: 2 });
    expect(() => recognizeColumns(header, { ...cents, amount: "total" })).toThrow(
      /names both amount and amount_cents/,
    );
  });

  it("are listed when one that is needed is missing", () => {
    expect(() => recognizeColumns(["a", "b"])).toThrow(
      /no column this program knows as amount or date\. Its columns are: "a", "b"\..*--column amount="NAME"/,
    );
    expect(() => recognizeColumns(["a", "date"], { amount: "x" })).toThrow(
      /--column amount="x": the file has no such column/,
    );
  });

  it("are not enough without a hint at a time column and at lines above the header", () => {
    expect(() => recognizeColumns(["Fecha", "Hora"])).toThrow(
      /must be the first line\. Add --column time="NAME" if/,
    );
    expect(() => recognizeColumns(["Report of 2024"], { amount: "Amount" })).toThrow(
      /no such column\. Its columns are: "Report of 2024"\. The header must be the first line\./,
    );
  });

  it("are refused when two have one name", () => {
    expect(() => recognizeColumns(["date", "amount", "Amount"])).toThrow(/two columns/);
  });
});

it.each<[string, boolean]>([
  ["DateTime (UTC),amount", true],
  ["created_at_(utc) ,amount", true],
  ["Date,Time(UTC),amount", true],
  ["date,amount,Updated (UTC)", false],
  ["UTC,date,amount", false],
])("the dates of %s are in UTC: %s", (line, isUtc) => {
  const header = line.split(",");
  expect(hasUtcDates(header, recognizeColumns(header))).toBe(isUtc);
});
