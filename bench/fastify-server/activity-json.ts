import type { ActivityRow } from "./page-query.ts";

/** The numbers in the database are indexes of these lists. */
export const TYPES = ["", "donation", "follow", "subscription", "giftsub", "cheer", "raid"];
const UNITS = ["", "cents", "none", "months", "subscriptions", "bits", "diamonds", "viewers"];
const numbered = (name: string) => [1, 2, 3, 4].map((number) => `${name}_${number}`);
export const PLATFORMS = [
  ...["", "service", ...numbered("live_platform"), ...numbered("import_source"), "csv"],
];

/** Converts a row to the contract's element, which `PAGE_SCHEMA` serializes. */
export function activityFromRow(row: ActivityRow) {
  const recordedAt = timeFromMicros(row.recorded_at);
  return {
    id: (row.record_key[15] === "d" ? "don_" : "evt_") + row.record_key.slice(0, 15),
    type: TYPES[row.type],
    platform: PLATFORMS[row.platform],
    occurred_at: row.occurred_at === null ? recordedAt : timeFromMicros(row.occurred_at),
    recorded_at: recordedAt,
    actor: { name: row.actor_name },
    message: row.message,
    value: row.value,
    unit: UNITS[row.unit],
    currency: row.currency,
    refunded_amount_cents: row.refunded_amount_cents,
  };
}

function timeFromMicros(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = String(micros - seconds * 1_000_000).padStart(6, "0");
  return `${new Date(seconds * 1000).toISOString().slice(0, 20)}${fraction}Z`;
}

const TEXT = { type: "string" };
const TEXT_OR_NULL = { type: ["string", "null"] };
const objectOf = (properties: object) => ({ type: "object", properties });
const ACTIVITY = objectOf({
  ...{ id: TEXT, type: TEXT, platform: TEXT, occurred_at: TEXT, recorded_at: TEXT },
  ...{ actor: objectOf({ name: TEXT_OR_NULL }), message: TEXT_OR_NULL },
  ...{ value: { type: "integer" }, unit: TEXT, currency: TEXT_OR_NULL },
  refunded_amount_cents: { type: ["integer", "null"] },
});

/** The schema from which fast-json-stringify compiles a serializer. */
export const PAGE_SCHEMA = objectOf({
  data: { type: "array", items: ACTIVITY },
  pagination: objectOf({ has_more: { type: "boolean" }, next_cursor: TEXT_OR_NULL }),
});
