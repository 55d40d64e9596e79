import { ActivityType, DIAMOND_PLATFORM, Unit } from "../activity/activity-values.ts";

/** The platform events that a connection can receive; counts are 0 to 2^53 - 1. */
export type PlatformEventKind =
  | { readonly case: "follow" }
  | { readonly case: "subscription"; readonly value: { readonly months: bigint } }
  | { readonly case: "giftsub"; readonly value: { readonly subscriptions: bigint } }
  | { readonly case: "cheer"; readonly value: { readonly amount: bigint } }
  | { readonly case: "raid"; readonly value: { readonly viewers: bigint } }
  | {
      readonly case: "paidChatMessage";
      readonly value: { readonly amountCents: bigint; readonly currency: string };
    };

/** The values of a platform event's feed row. */
export type PlatformEventValue = {
  readonly type: ActivityType;
  readonly unit: Unit;
  readonly value: number;
  readonly currency: string | undefined;
};

/** Returns the values of a platform event's feed row. §2.2 */
export function platformEventValue(kind: PlatformEventKind, platform: number): PlatformEventValue {
  switch (kind.case) {
    case "follow":
      return counted(ActivityType.Follow, Unit.None, 0n);
    case "subscription":
      return counted(ActivityType.Subscription, Unit.Months, kind.value.months);
    case "giftsub":
      return counted(ActivityType.Giftsub, Unit.Subscriptions, kind.value.subscriptions);
    case "cheer": {
      const unit = platform === DIAMOND_PLATFORM ? Unit.Diamonds : Unit.Bits;
      return counted(ActivityType.Cheer, unit, kind.value.amount);
    }
    case "raid":
      return counted(ActivityType.Raid, Unit.Viewers, kind.value.viewers);
    case "paidChatMessage": {
      const { amountCents, currency } = kind.value;
      return { ...counted(ActivityType.Donation, Unit.Cents, amountCents), currency };
    }
  }
}

function counted(type: ActivityType, unit: Unit, value: bigint): PlatformEventValue {
  return { type, unit, value: Number(value), currency: undefined };
}
