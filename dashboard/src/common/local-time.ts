import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

const MINUTE_MS = 60_000;
/** The range that a Timestamp can hold: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/**
 * Parses the value of a datetime-local input, in the reader's time zone. Returns `undefined` if it is empty or
 * malformed. If the time is out of the range in UTC, returns the nearest time in the range.
 */
export function timestampFromLocal(text: string): Timestamp | undefined {
  const milliseconds = new Date(text).getTime();
  if (Number.isNaN(milliseconds)) return undefined;
  return timestampFromMs(Math.min(Math.max(milliseconds, FIRST_MS), LAST_MS));
}

/** Formats a moment as the value of a datetime-local input, to the minute. */
export function localFromMs(milliseconds: number): string {
  const offset = new Date(milliseconds).getTimezoneOffset() * MINUTE_MS;
  return new Date(milliseconds - offset).toISOString().slice(0, "2026-01-01T00:00".length);
}
