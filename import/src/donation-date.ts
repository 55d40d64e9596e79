import { type DateOrder, type Moment, parseDateText } from "./date-text.ts";
import { accepted, type Parsed, refused } from "./parsed.ts";
import type { TimeZone } from "./time-zone.ts";

/** The first and the last second of the years 0001 to 9999, the span of a stored time. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

/** Parses the donation date of a date cell. A date or time without an offset needs the time zone. */
export function parseDonationDate(
  cell: string,
  order: DateOrder | undefined,
  timeZone: TimeZone | undefined,
): Parsed<Moment> {
  const reading = parseDateText(cell, order);
  if (!reading.ok) return reading;
  if (reading.value.kind === "moment") return withinSpan(reading.value.moment);
  if (timeZone === undefined) {
    return refused(
      "date: has no offset from UTC; add the file's time zone, for example --timezone Europe/Berlin",
    );
  }
  const { seconds, micros } = reading.value.local;
  const moment = timeZone.momentOf(seconds, reading.value.isDay);
  return moment.ok ? withinSpan({ seconds: moment.value, micros }) : moment;
}

function withinSpan(moment: Moment): Parsed<Moment> {
  const isWithin = moment.seconds >= FIRST_SECOND && moment.seconds <= LAST_SECOND;
  return isWithin ? accepted(moment) : refused("date: outside the years 1 to 9999");
}
