import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

const MINUTE_MS = 60_000;

/**
 * Parses the value of a datetime-local input, in the reader's time zone. Returns `undefined` if it is empty or
 * malformed.
 */
export function timestampFromLocal(text: string): Timestamp | undefined {
  const milliseconds = new Date(text).getTime();
  return Number.isNaN(milliseconds) ? undefined : timestampFromMs(milliseconds);
}

/** Formats a moment as the value of a datetime-local input, to the minute. */
export function localFromMs(milliseconds: number): string {
  const offset = new Date(milliseconds).getTimezoneOffset() * MINUTE_MS;
  return new Date(milliseconds - offset).toISOString().slice(0, "2026-01-01T00:00".length);
}
