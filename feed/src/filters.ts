import { invalidOption } from "./connection.ts";
import { ACTIVITY_TYPES, type ActivityType, PLATFORMS, type Platform } from "./contract.ts";

/** The records to read. Without a filter all are read. §4.2 */
export interface FilterOptions {
  readonly type?: ActivityType | undefined;
  readonly platform?: Platform | undefined;
}

/** A time: a `Date`, or UTC text such as `2026-03-01T12:00:00Z` with at most six decimals. */
export type Moment = string | Date;

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

/** Checks the filters. Throws a `FeedError` that lists what is accepted. */
export function parseFilters({ type, platform }: FilterOptions): FilterOptions {
  expectOneOf("type", type, ACTIVITY_TYPES);
  expectOneOf("platform", platform, PLATFORMS);
  return { type, platform };
}

/** Returns a time in the API's format. */
export function parseMoment(name: string, moment: Moment | undefined): string | undefined {
  if (moment === undefined) return undefined;
  const isDate = moment instanceof Date && !Number.isNaN(moment.getTime());
  const text = isDate ? moment.toISOString() : moment;
  if (typeof text === "string" && UTC_TIME.test(text)) return text;
  throw invalidOption(`${name} must be a Date or a UTC time such as 2026-03-01T12:00:00Z.`);
}

function expectOneOf(name: string, value: string | undefined, accepted: readonly string[]): void {
  if (value === undefined || accepted.includes(value)) return;
  throw invalidOption(`${name} must be one of ${accepted.join(", ")}.`);
}
