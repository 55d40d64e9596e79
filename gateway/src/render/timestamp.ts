import type { Timestamp } from "@bufbuild/protobuf/wkt";

const SECONDS_PER_DAY = 86_400;
/** The first day of year 0001 and the last of year 9999, counted from 1970-01-01. */
const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;

let cachedDay = Number.NaN;
let cachedDate = "";
let cachedSecond = Number.NaN;
let cachedTime = "";

/**
 * Renders a time of the years 0001 to 9999 in UTC with six fractional digits and `Z`. Throws RangeError for others.
 * A page's records are close in time, so the last date and second are cached.
 */
export function renderTimestamp(timestamp: Timestamp): string {
  const second = Number(timestamp.seconds);
  if (second !== cachedSecond) {
    cachedTime = renderSecond(second);
    cachedSecond = second;
  }
  const micros = Math.floor(timestamp.nanos / 1000);
  return `${cachedTime}.${String(1_000_000 + micros).slice(1)}Z`;
}

function renderSecond(second: number): string {
  const day = Math.floor(second / SECONDS_PER_DAY);
  if (day !== cachedDay) {
    cachedDate = renderDate(day);
    cachedDay = day;
  }
  const ofDay = second - day * SECONDS_PER_DAY;
  const hour = Math.floor(ofDay / 3600);
  const minute = Math.floor(ofDay / 60) % 60;
  return `${cachedDate}T${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(ofDay % 60)}`;
}

/** Counts in eras of 400 years from March 1 of year 0. In years that begin in March, a leap day comes last. */
function renderDate(day: number): string {
  if (!(day >= FIRST_DAY && day <= LAST_DAY))
    throw new RangeError("a time outside years 1 to 9999");
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(dayOfMonth)}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
