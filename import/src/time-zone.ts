import { accepted, type Parsed, refused } from "./parsed.ts";

/** A time zone. It converts its wall-clock time to UTC. */
export type TimeZone = {
  /**
   * Returns the seconds since 1970-01-01T00:00:00Z at which the wall clock shows `localSeconds`, which is counted as if
   * it were UTC. Refuses a time that the clock skips. Of a time that it shows twice, in autumn, the first counts.
   * With `isDay` it returns the start of the day, which is later than midnight if the clock skips midnight.
   */
  momentOf(localSeconds: number, isDay?: boolean): Parsed<number>;
};

const SECONDS_A_DAY = 86_400;
const OFFSET = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/;
/** About eleven years of days. When full, the cache is emptied. */
const MAX_REMEMBERED_DAYS = 4_096;

/** Creates a time zone from its IANA name, such as `Europe/Berlin`. Returns `undefined` for an unknown name. */
export function createTimeZone(name: string): TimeZone | undefined {
  const format = createOffsetFormat(name);
  if (format === undefined) return undefined;
  const offsetAt = remembered((seconds) => readOffset(format, seconds));

  function momentOf(localSeconds: number, isDay = false): Parsed<number> {
    // No clock changes twice within two days. The offsets one day earlier and one day later are therefore those before
    // and after a change.
    const before = localSeconds - offsetAt(localSeconds - SECONDS_A_DAY);
    const after = localSeconds - offsetAt(localSeconds + SECONDS_A_DAY);
    const shownAt = (moment: number) => moment + offsetAt(moment);
    const moments = [before, after].filter((moment) => shownAt(moment) === localSeconds);
    if (moments.length > 0) return accepted(Math.min(...moments));
    // Accepts a day whose midnight the clock skips. If the zone crosses the date line and so skips the whole day, the
    // day has no start.
    if (isDay && dayOf(shownAt(before)) === dayOf(localSeconds)) return accepted(before);
    return refused("date: the clocks of the time zone were put forward over this time");
  }

  return { momentOf };
}

function createOffsetFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const dayOf = (seconds: number) => Math.floor(seconds / SECONDS_A_DAY);

/** Returns the seconds that the wall clock is ahead of UTC. */
function readOffset(format: Intl.DateTimeFormat, seconds: number): number {
  const [, sign, hours, minutes, rest] = OFFSET.exec(format.format(seconds * 1000)) ?? [];
  const ahead = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(rest ?? 0);
  return sign === "-" ? -ahead : ahead;
}

/** Caches the offset of a day without a change, because formatting is slow and there are many rows. */
function remembered(offsetAt: (seconds: number) => number): (seconds: number) => number {
  const days = new Map<number, number | undefined>();
  return (seconds) => {
    const day = dayOf(seconds);
    if (!days.has(day)) {
      if (days.size >= MAX_REMEMBERED_DAYS) days.clear();
      const start = offsetAt(day * SECONDS_A_DAY);
      const end = offsetAt((day + 1) * SECONDS_A_DAY);
      days.set(day, start === end ? start : undefined);
    }
    return days.get(day) ?? offsetAt(seconds);
  };
}
