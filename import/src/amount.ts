import { currenciesOf, findExponent, settleCurrency } from "./currency.ts";
import {
  type DecimalMark,
  type Digits,
  type NumberReadings,
  needsDecimalMark,
  readNumber,
  withoutEndZeros,
} from "./number-text.ts";
import { accepted, type Parsed, refused } from "./parsed.ts";

/** An amount in the currency's smallest unit (ISO 4217), with the currency's lower-case code. */
export type Amount = { readonly amountCents: bigint; readonly currency: string };

/** The parts of an amount cell: its number, and the currencies that its sign or code can mean. */
export type AmountText = {
  readonly readings: NumberReadings;
  readonly said: readonly (readonly string[])[];
};

/** The largest amount that the core stores. It is also the largest whole number that JavaScript keeps exactly. */
const MAX_AMOUNT_CENTS = 9_007_199_254_740_991n;
/** The most digits of a whole part. A longer one is over the largest amount in every currency. */
const MAX_WHOLE_DIGITS = 16;

/** Splits a cell into text, number and text. A point after a letter belongs to the word, as in `kr.100`. */
const AROUND_NUMBER = /^(\D*?)((?:(?<!\p{L})[.,])?\d(?:.*\d)?)(\D*)$/su;
/** A dash, or a parenthesis that also encloses the number, as in `(5.00)`. */
const NEGATIVE_BEFORE = /[-−–—]|\([^()]*$/;
const NEGATIVE_AFTER = /[-−–—]/;
const IN_PARENTHESES = /^\((.*)\)$/;
/** The dash that stands for no cents, as in `5,-`. */
const NO_CENTS = /^[.,][-–—]{1,2}/;
const NOT_A_NUMBER = refused(
  "amount: not a number; it accepts digits with an optional decimal mark, thousands separators and currency, such as 1.234,56 or USD 5",
);

/** Parses an amount cell. Refuses negative amounts and text that is no number. */
export function parseAmountText(cell: string): Parsed<AmountText> {
  const [, before, number, after] = AROUND_NUMBER.exec(cell.trim()) ?? [];
  if (before === undefined || number === undefined || after === undefined) return NOT_A_NUMBER;
  const suffix = after.replace(NO_CENTS, "");
  if (NEGATIVE_BEFORE.test(before) || NEGATIVE_AFTER.test(suffix)) {
    return refused(
      "amount: negative; leave this row out, because a refund does not change the stored donation",
    );
  }
  const readings = readNumber(number);
  if (!readings.comma && !readings.point) return NOT_A_NUMBER;
  const words = [before.replace("+", ""), suffix]
    .map((word) => word.trim().replace(IN_PARENTHESES, "$1"))
    .filter(Boolean);
  const said = words.map(currenciesOf);
  if (said.some((codes) => codes.length === 0)) {
    return refused("amount: what stands beside the number is no currency this program knows");
  }
  return accepted({ readings, said });
}

/**
 * Parses an amount from its cells. `currencyCell` may be empty. `fallback` is `--currency`. `mark` is the file's
 * decimal mark, if known. An amount with more decimals than its currency is refused, never rounded. Trailing zeros do
 * not count.
 */
export function settleAmount(
  { readings, said }: AmountText,
  currencyCell: string,
  fallback: string | undefined,
  mark: DecimalMark | undefined,
): Parsed<Amount> {
  const column = currencyCell.trim();
  const named = column === "" ? [] : [currenciesOf(column)];
  if (named[0]?.length === 0) {
    // A column "Valuta" holds currencies, but in German bank statements dates. For a date the refusal names the options
    // to use.
    return refused(
      /\d/.test(column)
        ? 'currency: this column holds none; add --column currency="" and --currency, for example --currency eur'
        : "currency: not a code of ISO 4217 or a sign this program knows",
    );
  }
  const currency = settleCurrency([...named, ...said], fallback);
  if (!currency.ok) return currency;
  const exponent = findExponent(currency.value);
  if (exponent === undefined) return refused("currency: not a code of ISO 4217");
  const digits = chooseReading(readings, mark, exponent);
  if (!digits.ok) return digits;
  const amountCents = toSmallestUnit(digits.value, exponent);
  return amountCents.ok
    ? accepted({ amountCents: amountCents.value, currency: currency.value })
    : amountCents;
}

/** Parses a cell that holds the amount in the currency's smallest unit. */
export function parseAmountCents(
  cell: string,
  currencyCell: string,
  fallback: string | undefined,
): Parsed<Amount> {
  const text = cell.trim();
  if (!/^\d+$/.test(text)) return refused("amount: this column accepts whole cents, digits only");
  const currency = settleAmount(
    { readings: readNumber("0"), said: [] },
    currencyCell,
    fallback,
    undefined,
  );
  if (!currency.ok) return currency;
  const amountCents = toSmallestUnit({ whole: text, fraction: "" }, 0);
  if (!amountCents.ok) return amountCents;
  return accepted({ amountCents: amountCents.value, currency: currency.value.currency });
}

function chooseReading(
  readings: NumberReadings,
  mark: DecimalMark | undefined,
  exponent: number,
): Parsed<Digits> {
  const { comma, point } = readings;
  if (mark !== undefined) {
    const digits = readings[mark];
    return digits ? accepted(digits) : refused(`amount: not written with a decimal ${mark}`);
  }
  if (needsDecimalMark(readings)) {
    // A currency without decimals has no decimal mark, so this mark separates thousands.
    const whole = [comma, point].find((digits) => digits?.fraction === "");
    if (exponent === 0 && whole) return accepted(whole);
    return refused(
      "amount: could be thousands or decimals, and the file does not show which; add --decimal comma or --decimal point",
    );
  }
  const only = comma ?? point;
  return only ? accepted(only) : NOT_A_NUMBER;
}

function toSmallestUnit({ whole, fraction }: Digits, exponent: number): Parsed<bigint> {
  const decimals = withoutEndZeros(fraction);
  if (decimals.length > exponent) {
    return refused(
      exponent === 0
        ? "amount: has decimals, and its currency has none"
        : `amount: has more decimals than the ${exponent} of its currency`,
    );
  }
  const digits = whole.replace(/^0+/, "");
  const cents =
    digits.length > MAX_WHOLE_DIGITS ? undefined : BigInt(digits + decimals.padEnd(exponent, "0"));
  if (cents === undefined || cents > MAX_AMOUNT_CENTS) {
    return refused(`amount: more than ${MAX_AMOUNT_CENTS} of the currency's smallest unit`);
  }
  return accepted(cents);
}
