import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useMemo } from "react";
import { DAY_MS, nowMs } from "./clock.ts";
import { timestampFromLocal } from "./local-time.ts";
import type { Filters } from "./use-filters.ts";

/** How long ago the presets begin. */
export const SPANS = { hour: DAY_MS / 24, day: DAY_MS, week: 7 * DAY_MS } as const;

/** Returns how long ago the chosen preset begins. */
export function spanMs(filters: Pick<Filters, "get">): number | undefined {
  const span = filters.get("span");
  return Object.hasOwn(SPANS, span) ? SPANS[span as keyof typeof SPANS] : undefined;
}

/**
 * Returns the range of time that filters name. A preset begins at one moment while it is chosen: pages that follow each
 * other are those of one list.
 */
export function useTimeRange(filters: Filters): {
  since: Timestamp | undefined;
  until: Timestamp | undefined;
} {
  const agoMs = spanMs(filters);
  const preset = useMemo(
    () => (agoMs === undefined ? undefined : timestampFromMs(nowMs() - agoMs)),
    [agoMs],
  );
  return {
    since: preset ?? timestampFromLocal(filters.get("since")),
    until: timestampFromLocal(filters.get("until")),
  };
}
