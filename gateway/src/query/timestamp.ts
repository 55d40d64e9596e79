import type { Timestamp } from "@bufbuild/protobuf/wkt";

const FORM = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?Z$/;

/**
 * Parses `YYYY-MM-DDTHH:MM:SS[.1–6 digits]Z`, an existing date and time of the years 0001 to 9999. Returns `undefined`
 * for anything else, such as second 60 or hour 24.
 */
export function findTimestamp(text: string): Timestamp | undefined {
  const [, seconds = "", fraction = ""] = FORM.exec(text) ?? [];
  const milliseconds = Date.parse(`${seconds}Z`);
  if (Number.isNaN(milliseconds) || seconds < "0001") return undefined;
  // Refuses a time that does not exist: Date parses February 30 as March 2, and hour 24 as the next day.
  if (!new Date(milliseconds).toISOString().startsWith(seconds)) return undefined;
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(milliseconds / 1000),
    nanos: Number(fraction.padEnd(9, "0")),
  };
}
