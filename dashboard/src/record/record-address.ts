import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

/** Returns the address of a record's page. It holds `recordedAt`, because the feed finds records by time. */
export function recordHref(activityId: string, recordedAt: Timestamp | undefined): string {
  const { seconds, nanos } = recordedAt ?? timestampFromMs(0);
  return `/activity/${activityId}?at=${seconds}.${String(nanos).padStart(9, "0")}`;
}

/**
 * Parses the `at` of a record's address. Returns that microsecond as a range; `undefined` if the text is malformed.
 */
export function momentOf(text: string | null): { since: Timestamp; until: Timestamp } | undefined {
  const [, seconds, nanos] = /^(\d{1,11})\.(\d{9})$/.exec(text ?? "") ?? [];
  if (seconds === undefined || nanos === undefined) return undefined;
  const at = (later: number) => {
    const all = Number(nanos) + later;
    const more = all >= 1e9 ? 1 : 0;
    return { ...timestampFromMs(0), seconds: BigInt(seconds) + BigInt(more), nanos: all % 1e9 };
  };
  return { since: at(0), until: at(1_000) };
}
