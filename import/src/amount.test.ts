import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAmountCents, parseAmountText, settleAmount } from "./amount.ts";
import { type DecimalMark, needsDecimalMark, provenDecimalMark } from "./number-text.ts";

function read(cell: string, currency = "eur", mark?: DecimalMark, fallback?: string) {
  const text = parseAmountText(cell);
  if (!text.ok) return text.reason;
  const amount = settleAmount(text.value, currency, fallback, mark);
  return amount.ok ? `${amount.value.amountCents} ${amount.value.currency}` : amount.reason;
}

describe("an amount cell", () => {
  it.each([
    ["5", "500 eur"],
    ["0", "0 eur"],
    ["5,00", "500 eur"],
    ["5.5", "550 eur"],
    [".50", "50 eur"],
    ["1.234,56", "123456 eur"],
    ["1,234.56", "123456 eur"],
    ["1 234,56", "123456 eur"],
    ["1\u202f234,56", "123456 eur"],
    ["1'234.56", "123456 eur"],
    ["1’234.56", "123456 eur"],
    ["12,34,567.89", "123456789 eur"],
    ["1.234.567", "123456700 eur"],
    ["1 234", "123400 eur"],
    ["0,123", "amount: has more decimals than the 2 of its currency"],
    ["5,00 €", "500 eur"],
    ["€5.00", "500 eur"],
    ["+5,00 EUR", "500 eur"],
    ["5,-", "500 eur"],
    ["5,-- €", "500 eur"],
    ["5,0000", "500 eur"],
    ["€5.00 (EUR)", "500 eur"],
    ["(EUR) 5.00", "500 eur"],
  ])("%s means %s", (cell, amount) => {
    expect(read(cell)).toBe(amount);
  });

  it.each([
    "",
    "x",
    "-",
    "1,2,3",
    "1.23.456",
    "1,234,56",
    "5 EUR 6",
    "1e3",
    "0x5",
    "٥",
    "1..2",
    "5 potatoes",
    "5 EU(R)",
    "5 (EU)R",
  ])("%j is refused", (cell) => {
    expect(read(cell)).toMatch(/^amount: /);
  });

  const negatives = ["-5", "−5,00", "5,00-", "(5.00)", "(EUR 5.00)", "$-5", "-€5"];
  it.each(negatives)("%s is refused as negative", (cell) => {
    expect(read(cell)).toMatch(/^amount: negative; leave this row out/);
  });

  it("that could be thousands or decimals needs the file's decimal mark", () => {
    expect(read("1,234")).toMatch(/--decimal/);
    expect(read("1.234", "kwd")).toMatch(/--decimal/);
    expect(read("1,234", "eur", "point")).toBe("123400 eur");
    expect(read("1.234", "kwd", "point")).toBe("1234 kwd");
    expect(read("1.234", "kwd", "comma")).toBe("1234000 kwd");
  });

  it("that contradicts --decimal is refused", () => {
    expect(read("5,00", "eur", "point")).toBe("amount: not written with a decimal point");
  });

  it("counts the smallest unit of its currency", () => {
    expect(read("500", "jpy")).toBe("500 jpy");
    expect(read("1,234", "jpy")).toBe("1234 jpy");
    expect(read("500.00", "jpy")).toBe("500 jpy");
    expect(read("500.5", "jpy")).toBe("amount: has decimals, and its currency has none");
    expect(read("5.25", "kwd")).toBe("5250 kwd");
    expect(read("5.2501", "kwd")).toBe("amount: has more decimals than the 3 of its currency");
    expect(read("5", "iqd")).toBe("5000 iqd");
    expect(read("5.0001", "clf")).toBe("50001 clf");
  });

  it("may say the currency itself", () => {
    expect(read("USD 5", "")).toBe("500 usd");
    expect(read("5 zł", "")).toBe("500 pln");
    expect(read("kr.100", "", undefined, "dkk")).toBe("10000 dkk");
    expect(read("$5", "")).toMatch(/^currency: several.*add --currency/);
    // Does not advise another --currency, because rows without a sign would be stored again, in another currency.
    expect(read("$5", "", undefined, "eur")).toMatch(/^currency: several(?!.*--)/);
    expect(read("5.00", "31.01.2024")).toMatch(/add --column currency=""/);
    expect(read("$5", "", undefined, "cad")).toBe("500 cad");
    expect(read("$5", "usd", undefined, "eur")).toBe("500 usd");
    expect(read("$5 AUD", "")).toBe("500 aud");
    expect(read("$5.00 (USD)", "")).toBe("500 usd");
    expect(read("€5", "usd")).toBe("currency: the row names two different ones");
    expect(read("5", "", undefined, "eur")).toBe("500 eur");
    expect(read("5", "")).toMatch(
      /^currency: none is given; add --column currency="NAME" .*--currency/,
    );
    expect(read("5", "xyz")).toMatch(/^currency: not a code/);
  });

  it("reaches the largest amount the core stores, and no further", () => {
    expect(read("90071992547409.91")).toBe("9007199254740991 eur");
    expect(read("90071992547409.92")).toMatch(/^amount: more than/);
    expect(read("9".repeat(100_000))).toMatch(/^amount: more than/);
    expect(read(`${"0".repeat(1000)}5`)).toBe("500 eur");
  });

  // With quadratic time, this takes minutes.
  it("that is very long is refused in time that grows with its length only", {
    timeout: 10_000,
  }, () => {
    const length = 200_000;
    expect(read(`${"(".repeat(length)})5`)).toMatch(/^amount: /);
    expect(read(`1.${"0".repeat(length)}1`)).toBe(
      "amount: has more decimals than the 2 of its currency",
    );
  });

  it("written in any usual style comes back as it was", () => {
    const styles = [
      [",", "."],
      [".", ","],
      [" ", ","],
      ["\u00a0", ","],
      ["'", "."],
      ["", "."],
      ["", ","],
    ] as const;
    const currency = fc.constantFrom(["eur", 2], ["jpy", 0], ["kwd", 3], ["clf", 4]);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 9_007_199_254_740_991n }),
        currency,
        fc.constantFrom(...styles),
        (cents, [code, exponent], [group, mark]) => {
          const digits = cents.toString().padStart(Number(exponent) + 1, "0");
          const whole = digits.slice(0, digits.length - Number(exponent));
          const fraction = digits.slice(digits.length - Number(exponent));
          const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
          const cell = fraction ? `${grouped}${mark}${fraction}` : grouped;
          const known = mark === "," ? "comma" : "point";
          expect(read(cell, String(code), known)).toBe(`${cents} ${code}`);
        },
      ),
    );
  });

  it("that is any text is read or refused, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (cell, currency) => {
        expect(read(cell, currency)).toEqual(expect.any(String));
      }),
    );
  });
});

it.each([
  ["5,00", "comma"],
  ["1.234,56", "comma"],
  ["1.234.567", "comma"],
  ["5.00", "point"],
  ["1,234,567", "point"],
  ["1,234", undefined],
  ["500", undefined],
])("the decimal mark of %s is %s", (cell, mark) => {
  const text = parseAmountText(cell);
  expect(text.ok && provenDecimalMark(text.value.readings)).toBe(mark);
  expect(text.ok && needsDecimalMark(text.value.readings)).toBe(cell === "1,234");
});

it("a cell of whole cents accepts digits only", () => {
  expect(parseAmountCents("1050", "eur", undefined)).toEqual({
    ok: true,
    value: { amountCents: 1050n, currency: "eur" },
  });
  expect(parseAmountCents("10.50", "eur", undefined).ok).toBe(false);
  expect(parseAmountCents("9007199254740992", "eur", undefined).ok).toBe(false);
});
