import { ActivityType, Platform, Unit } from "./gen/activity/read/v1/activity_pb.ts";

/** The contract's words by the proto's numbers. */
export type Words = Readonly<Record<number, string | undefined>>;

/** The types of an activity, in queries and pages. §2.2 */
export const TYPES: Words = {
  [ActivityType.UNSPECIFIED]: undefined,
  [ActivityType.DONATION]: "donation",
  [ActivityType.FOLLOW]: "follow",
  [ActivityType.SUBSCRIPTION]: "subscription",
  [ActivityType.GIFTSUB]: "giftsub",
  [ActivityType.CHEER]: "cheer",
  [ActivityType.RAID]: "raid",
} satisfies Record<ActivityType, string | undefined>;

/** The platforms, in queries and pages. §2.3 */
export const PLATFORMS: Words = {
  [Platform.UNSPECIFIED]: undefined,
  [Platform.SERVICE]: "service",
  [Platform.LIVE_PLATFORM_1]: "live_platform_1",
  [Platform.LIVE_PLATFORM_2]: "live_platform_2",
  [Platform.LIVE_PLATFORM_3]: "live_platform_3",
  [Platform.LIVE_PLATFORM_4]: "live_platform_4",
  [Platform.IMPORT_SOURCE_1]: "import_source_1",
  [Platform.IMPORT_SOURCE_2]: "import_source_2",
  [Platform.IMPORT_SOURCE_3]: "import_source_3",
  [Platform.IMPORT_SOURCE_4]: "import_source_4",
  [Platform.CSV]: "csv",
} satisfies Record<Platform, string | undefined>;

/** The units of a value. §2.2 */
export const UNITS: Words = {
  [Unit.UNSPECIFIED]: undefined,
  [Unit.CENTS]: "cents",
  [Unit.NONE]: "none",
  [Unit.MONTHS]: "months",
  [Unit.SUBSCRIPTIONS]: "subscriptions",
  [Unit.BITS]: "bits",
  [Unit.DIAMONDS]: "diamonds",
  [Unit.VIEWERS]: "viewers",
} satisfies Record<Unit, string | undefined>;

/** Inverts a table: returns the numbers of the enum `Value` by their words, in the proto's order. */
export function numbersByWord<Value extends number>(words: Words): ReadonlyMap<string, Value> {
  const entries = Object.entries(words);
  return new Map(
    // The table's keys are the enum's numbers.
    entries.flatMap(([number, word]) => (word ? [[word, Number(number) as Value]] : [])),
  );
}
