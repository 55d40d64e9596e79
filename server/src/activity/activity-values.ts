/** The feed stores types, units and platforms as their numbers in proto/activity/read/v1. §2.2, §2.3 */
export const ActivityType = {
  Donation: 1,
  Follow: 2,
  Subscription: 3,
  Giftsub: 4,
  Cheer: 5,
  Raid: 6,
} as const;
export type ActivityType = (typeof ActivityType)[keyof typeof ActivityType];

export const Unit = {
  Cents: 1,
  None: 2,
  Months: 3,
  Subscriptions: 4,
  Bits: 5,
  Diamonds: 6,
  Viewers: 7,
} as const;
export type Unit = (typeof Unit)[keyof typeof Unit];

/** The platform of donations that are made through the service itself. */
export const SERVICE_PLATFORM = 1;
/** The short-video platform, whose cheers are diamonds. */
export const DIAMOND_PLATFORM = 5;

/** The sources of imported history: four other tipping tools, and CSV files. */
const IMPORT_PLATFORMS: ReadonlySet<number> = new Set([6, 7, 8, 9, 10]);

/** Tells whether history can be imported from a platform. */
export function isImportPlatform(platform: number): boolean {
  return IMPORT_PLATFORMS.has(platform);
}
