import type { Timestamp } from "@bufbuild/protobuf/wkt";

const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?Z$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const SECONDS_PER_DAY = 86_400;

/**
 * Parses `YYYY-MM-DDTHH:MM:SS[.1–6 digits]Z`, a real date and time of the years 0001 to 9999, exactly.
 * Returns `undefined` for anything else; a second 60 and an hour 24 are not real.
 */
export function findTimestamp(text: string): Timestamp | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const days = daysSinceEpoch(year, month, day);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second),
    nanos: Number((match[7] ?? "").padEnd(9, "0")),
  };
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

/** Counts from the 1st of March of year 0, where a leap day ends the year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const monthFromMarch = (month + 9) % 12;
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) + day - 719_469;
}
