/** The types of activity. §2.1 */
export const ACTIVITY_TYPES = [
  "donation",
  "follow",
  "subscription",
  "giftsub",
  "cheer",
  "raid",
] as const;

/** Where a record came from: the service, a live platform or an import source. §2.3 */
export const PLATFORMS = [
  "service",
  "live_platform_1",
  "live_platform_2",
  "live_platform_3",
  "live_platform_4",
  "import_source_1",
  "import_source_2",
  "import_source_3",
  "import_source_4",
  "csv",
] as const;

export type ActivityType = (typeof ACTIVITY_TYPES)[number];
export type Platform = (typeof PLATFORMS)[number];

interface Fields<Type extends ActivityType> {
  /** `don_` or `evt_` and 15 characters a–z, 0–9. Stable: use it to recognize a record. */
  readonly id: string;
  readonly type: Type;
  readonly platform: Platform;
  /** The donation date; for a platform event the time of storage. UTC, six fractional digits. */
  readonly occurred_at: string;
  /** The time of storage, which orders the feed. UTC, six fractional digits. */
  readonly recorded_at: string;
  /** The supporter. The name is untrusted text: escape it. */
  readonly actor: { readonly name: string | null };
  /** The supporter's text, as written. Untrusted: escape it. */
  readonly message: string | null;
}

interface PlatformEvent<Type extends ActivityType, Unit extends string> extends Fields<Type> {
  /** A whole number, 0 and up, counted in `unit`. */
  readonly value: number;
  readonly unit: Unit;
  readonly currency: null;
  readonly refunded_amount_cents: null;
}

/** A paid donation, or a paid chat message of a platform. */
export interface Donation extends Fields<"donation"> {
  /** The original amount in the currency's smallest unit: cents of a euro, whole yen. */
  readonly value: number;
  readonly unit: "cents";
  /** ISO 4217, lower case. */
  readonly currency: string;
  /** The amount refunded so far, for platform `service`; null for all others. */
  readonly refunded_amount_cents: number | null;
}

/** A new follower. */
export interface Follow extends PlatformEvent<"follow", "none"> {
  readonly value: 0;
}

/** A subscription. `value` is its number of months. */
export interface Subscription extends PlatformEvent<"subscription", "months"> {}

/** Subscriptions given to others. `value` is their number. */
export interface GiftSub extends PlatformEvent<"giftsub", "subscriptions"> {}

/** Bits, or diamonds on `live_platform_4`. They are not money. */
export interface Cheer extends PlatformEvent<"cheer", "bits" | "diamonds"> {}

/** Viewers that another channel sends. `value` is their number. */
export interface Raid extends PlatformEvent<"raid", "viewers"> {}

/** One record of the feed. `switch` on its `type` narrows it. §2.1 */
export type Activity = Donation | Follow | Subscription | GiftSub | Cheer | Raid;

/** The answer of `GET /activity`. §2.4 */
export interface ActivityPage {
  readonly data: readonly Activity[];
  readonly pagination: {
    /** Whether a further page can be read at once. */
    readonly has_more: boolean;
    /** The start of the next page; null only if no cursor was sent and nothing was found. */
    readonly next_cursor: string | null;
  };
}

/** An API key and its account. §2.5 */
export interface Me {
  readonly id: string;
  readonly username: string;
  readonly display_name: string;
  readonly scopes: readonly "activity:read"[];
  readonly key: {
    /** The start of the key, enough to recognize it. */
    readonly prefix: string;
    /** When the key stops working. UTC, six fractional digits. */
    readonly expires_at: string;
  };
}
