import { expect, it } from "vitest";
import { ActivityType, DIAMOND_PLATFORM, Unit } from "../activity/activity-values.ts";
import { platformEventValue } from "./platform-event.ts";

const PLATFORM = 2;
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);
const paid = { amountCents: 500n, currency: "jpy" };

it.each([
  [{ case: "follow" }, ActivityType.Follow, Unit.None, 0],
  [{ case: "subscription", value: { months: 7n } }, ActivityType.Subscription, Unit.Months, 7],
  [{ case: "giftsub", value: { subscriptions: 5n } }, ActivityType.Giftsub, Unit.Subscriptions, 5],
  [{ case: "cheer", value: { amount: 100n } }, ActivityType.Cheer, Unit.Bits, 100],
  [{ case: "raid", value: { viewers: LARGEST } }, ActivityType.Raid, Unit.Viewers, Number(LARGEST)],
  [{ case: "paidChatMessage", value: paid }, ActivityType.Donation, Unit.Cents, 500],
] as const)("gives %o its type, unit and value", (kind, type, unit, value) => {
  expect(platformEventValue(kind, PLATFORM)).toMatchObject({ type, unit, value });
});

it("counts the short-video platform's cheers in diamonds", () => {
  const cheer = { case: "cheer", value: { amount: 3n } } as const;
  expect(platformEventValue(cheer, DIAMOND_PLATFORM).unit).toBe(Unit.Diamonds);
});

it("names a currency for paid chat messages only", () => {
  const message = platformEventValue({ case: "paidChatMessage", value: paid }, PLATFORM);
  expect(message.currency).toBe("jpy");
  expect(platformEventValue({ case: "follow" }, PLATFORM).currency).toBeUndefined();
});
