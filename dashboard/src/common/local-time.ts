import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

const MINUTE_MS = 60_000;

/** Reads what an input of the type datetime-local holds, in the reader's time zone; `undefined` when it is empty or no time. */
export function timestampFromLocal(text: string): Timestamp | undefined {
  const milliseconds = new Date(text).getTime();
  return Number.isNaN(milliseconds) ? undefined : timestampFromMs(milliseconds);
}

/** Writes a moment as such an input holds it, to the minute. */
export function localFromMs(milliseconds: number): string {
  const offset = new Date(milliseconds).getTimezoneOffset() * MINUTE_MS;
  return new Date(milliseconds - offset).toISOString().slice(0, "2026-01-01T00:00".length);
}
