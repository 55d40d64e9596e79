import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { LOCALE, texts } from "../texts.ts";

const PARTS = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const;
const MINUTES = new Intl.DateTimeFormat(LOCALE, PARTS);
const DAYS = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" });
const SECONDS = new Intl.DateTimeFormat(LOCALE, { ...PARTS, second: "2-digit" });

/** The reader's time zone, such as `Europe/London`. Its distance from UTC depends on the date. */
export const ZONE = MINUTES.resolvedOptions().timeZone.replaceAll("_", " ");

/**
 * A moment in the reader's time zone. On hover, it shows UTC. Without a moment it shows `instead`, by default a dash.
 */
export function Time(props: {
  at: Timestamp | undefined;
  hasSeconds?: boolean;
  isDay?: boolean;
  instead?: string;
}) {
  if (props.at === undefined) return <>{props.instead ?? texts.none}</>;
  const date = timestampDate(props.at);
  return (
    <time dateTime={date.toISOString()} title={utcText(date)}>
      {(props.isDay ? DAYS : props.hasSeconds ? SECONDS : MINUTES).format(date)}
    </time>
  );
}

/** Formats a moment to the second, in the reader's time zone and in UTC. */
export function exactText(at: Timestamp | undefined): string | undefined {
  if (at === undefined) return undefined;
  const date = timestampDate(at);
  return `${SECONDS.format(date)} · ${utcText(date)}`;
}

function utcText(date: Date): string {
  return texts.utc(date.toISOString().slice(0, "2026-01-01T00:00:00".length).replace("T", " "));
}
