import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useMemo } from "react";
import { DAY_MS, nowMs } from "./clock.ts";
import { timestampFromLocal } from "./local-time.ts";
import type { Filters } from "./use-filters.ts";

/** The lengths of the presets, in milliseconds. */
export const SPANS = { hour: DAY_MS / 24, day: DAY_MS, week: 7 * DAY_MS } as const;

/** Returns the length of the chosen preset, in milliseconds. Returns `undefined` without a preset. */
export function spanMs(filters: Pick<Filters, "get">): number | undefined {
  const span = filters.get("span");
  return Object.hasOwn(SPANS, span) ? SPANS[span as keyof typeof SPANS] : undefined;
}

/**
 * Returns the time range of the filters. The start of a preset is fixed while it is chosen, so all pages of a list have
 * the same range.
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
