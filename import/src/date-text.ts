import { withoutEndZeros } from "./number-text.ts";
import { accepted, type Parsed, refused } from "./parsed.ts";

/** Which of the first two numbers of a date such as 02/03/2024 is the day. */
export type DateOrder = "dmy" | "mdy";

/** A time: seconds since 1970-01-01T00:00:00Z, plus 0 to 999999 microseconds. */
export type Moment = { readonly seconds: number; readonly micros: number };

/**
 * A parsed date cell. `local` is wall-clock time, counted like a Moment as if it were UTC. It needs a time zone.
 * `isDay` tells that the cell has no time.
 */
export type DateReading =
  | { readonly kind: "moment"; readonly moment: Moment }
  | { readonly kind: "local"; readonly local: Moment; readonly isDay: boolean };

const CALENDAR =
  /^(?:(?<y1>\d{4})(?<s1>[-/.])(?<m1>\d{1,2})\k<s1>(?<d1>\d{1,2})|(?<first>\d{1,2})(?<s2>[-/.])(?<second>\d{1,2})\k<s2>(?<y2>\d{4}))(?:(?:[Tt]|,? +)(?<time>\d.*))?$/;
const TIME =
  /^(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d+))?)?(?: ?(?<half>[AaPp])\.?[Mm]\.?)?(?: Uhr)?(?: ?(?<zone>[Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/;
const UNIX_SECONDS = /^\d{9,10}(?:\.\d+)?$/;
/** Thirteen digits, so from September 2001 on. Twelve digits could also be a date and time, such as 202401311305. */
const UNIX_MILLISECONDS = /^\d{13}$/;

const SECONDS_A_DAY = 86_400;
/** The largest accepted offset from UTC. No offset in use is larger. */
const MAX_OFFSET_HOURS = 18;
/** Spaces that browsers and spreadsheets write, for example before `PM`. */
const NO_BREAK_SPACES = /[\u00a0\u202f]/g;
const NOT_A_DATE = refused(
  "date: not understood; it accepts 2024-01-31 13:05:59, 2024-01-31T12:05:59Z, 31.01.2024 13:05, 31/01/2024 13:05 and Unix seconds or milliseconds",
);
const NOT_A_REAL_DATE = refused("date: there is no such day or time");

/**
 * Reads a date in any of the forms that `NOT_A_DATE` names. A date alone means the start of that day. Microseconds are
 * kept exactly.
 */
export function parseDateText(cell: string, order: DateOrder | undefined): Parsed<DateReading> {
  const text = cell.replace(NO_BREAK_SPACES, " ").trim();
  if (UNIX_SECONDS.test(text)) {
    const [seconds, fraction] = text.split(".");
    return atMoment(Number(seconds), fraction);
  }
  if (UNIX_MILLISECONDS.test(text)) {
    return atMoment(Number(text.slice(0, -3)), text.slice(-3));
  }
  const groups = CALENDAR.exec(text)?.groups;
  if (groups === undefined) return NOT_A_DATE;
  const day = groups.y1 ? yearFirst(groups) : yearLast(groups, order);
  if (!day.ok) return day;
  if (groups.time === undefined) {
    const local = { seconds: day.value * SECONDS_A_DAY, micros: 0 };
    return accepted({ kind: "local", local, isDay: true });
  }
  return readTime(day.value, groups.time);
}

type Groups = Readonly<Record<string, string | undefined>>;

function yearFirst({ y1, m1, d1 }: Groups): Parsed<number> {
  return readDay(Number(y1), Number(m1), Number(d1));
}

function yearLast({ first, second, y2, s2 }: Groups, order: DateOrder | undefined): Parsed<number> {
  const [one, other] = [Number(first), Number(second)];
  // With points, the day is always written before the month.
  const known = s2 === "." ? "dmy" : (order ?? evidentOrder(one, other));
  if (known === undefined) {
    return refused("date: day and month could be either way round; add --dates dmy or --dates mdy");
  }
  return known === "dmy" ? readDay(Number(y2), other, one) : readDay(Number(y2), one, other);
}

function evidentOrder(one: number, other: number): DateOrder | undefined {
  if (one > 12 || one === other) return "dmy";
  return other > 12 ? "mdy" : undefined;
}

/** Returns the days from 1970-01-01 to a date in year 1 or later. */
function readDay(year: number, month: number, day: number): Parsed<number> {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal =
    year >= 1 &&
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day;
  return isReal ? accepted(date.getTime() / 1000 / SECONDS_A_DAY) : NOT_A_REAL_DATE;
}

function readTime(day: number, text: string): Parsed<DateReading> {
  const groups = TIME.exec(text)?.groups;
  if (groups === undefined) return NOT_A_DATE;
  const hour = hourOf(Number(groups.hour), groups.half);
  const [minute, second] = [Number(groups.minute), Number(groups.second ?? 0)];
  if (hour === undefined || minute > 59 || second > 59) return NOT_A_REAL_DATE;
  const seconds = day * SECONDS_A_DAY + hour * 3600 + minute * 60 + second;
  if (groups.zone !== undefined) {
    const offset = offsetSeconds(groups.zone);
    return offset === undefined ? NOT_A_REAL_DATE : atMoment(seconds - offset, groups.fraction);
  }
  const micros = microsOf(groups.fraction);
  if (!micros.ok) return micros;
  return accepted({ kind: "local", local: { seconds, micros: micros.value }, isDay: false });
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
}

function offsetSeconds(zone: string): number | undefined {
  if (/^[A-Za-z]/.test(zone)) return 0;
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (hours > MAX_OFFSET_HOURS || minutes > 59) return undefined;
  return (hours * 3600 + minutes * 60) * (zone.startsWith("-") ? -1 : 1);
}

function atMoment(seconds: number, fraction: string | undefined): Parsed<DateReading> {
  const micros = microsOf(fraction);
  return micros.ok
    ? accepted({ kind: "moment", moment: { seconds, micros: micros.value } })
    : micros;
}

function microsOf(fraction = ""): Parsed<number> {
  const digits = withoutEndZeros(fraction);
  if (digits.length > 6) return refused("date: finer than a microsecond");
  return accepted(Number(digits.padEnd(6, "0")));
}
