/** The character that begins the decimals. */
export type DecimalMark = "comma" | "point";

/** The digits of a number as written, before and after its decimal mark. */
export type Digits = { readonly whole: string; readonly fraction: string };

/**
 * The readings of a number with each decimal mark. A reading that is not possible is absent. The two differ only if the
 * number has a single mark, three digits from its end, such as `1,234` or `1.234`.
 */
export type NumberReadings = { readonly [Mark in DecimalMark]?: Digits };

const SPACES = /[ \u00a0\u2007\u2009\u202f]/g;
const APOSTROPHES = /[’`´]/g;
const DIGITS = /^\d*$/;
/** Thousands: the same character between all groups of three. */
const GROUPED = /^[1-9]\d{0,2}([., '])\d{3}(?:\1\d{3})*$/;
/** Thousands as on the Indian subcontinent: 12,34,567. */
const GROUPED_IN_TWOS = /^[1-9]\d?(?:,\d{2})+,\d{3}$/;

/** Reads a number without a sign in two ways: with a decimal point and with a decimal comma. */
export function readNumber(text: string): NumberReadings {
  const plain = text.replace(SPACES, " ").replace(APOSTROPHES, "'");
  const comma = readDigits(plain, ",");
  const point = readDigits(plain, ".");
  return { ...(comma && { comma }), ...(point && { point }) };
}

/** Returns whether the two readings of a number differ, so that the mark must be known. */
export function needsDecimalMark({ comma, point }: NumberReadings): boolean {
  if (comma === undefined || point === undefined) return false;
  return comma.whole !== point.whole || comma.fraction !== point.fraction;
}

/** Returns the decimal mark that a number proves: the mark of its only reading. */
export function provenDecimalMark({ comma, point }: NumberReadings): DecimalMark | undefined {
  if (comma && !point) return "comma";
  if (point && !comma) return "point";
  return undefined;
}

/** Removes the zeros at the end of decimals. */
export function withoutEndZeros(fraction: string): string {
  // Without the lookbehind, the time would grow with the square of the length of a row of zeros.
  return fraction.replace(/(?<!0)0+$/, "");
}

function readDigits(text: string, mark: "," | "."): Digits | undefined {
  const [wholeText = "", fraction, ...rest] = text.split(mark);
  if (rest.length > 0 || fraction === "" || !DIGITS.test(fraction ?? "")) return undefined;
  const whole = ungroup(wholeText);
  if (whole === undefined || (whole === "" && fraction === undefined)) return undefined;
  return { whole, fraction: fraction ?? "" };
}

function ungroup(text: string): string | undefined {
  if (DIGITS.test(text)) return text;
  const isGrouped = GROUPED.test(text) || GROUPED_IN_TWOS.test(text);
  return isGrouped ? text.replace(/\D/g, "") : undefined;
}
