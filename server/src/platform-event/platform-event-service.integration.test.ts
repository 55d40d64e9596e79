import { Platform, type RecordPlatformEventRequestSchema } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
import { ActivityType, Unit } from "../activity/activity-values.ts";
import { ErrorCode } from "../common/errors.ts";

const services = useServices();
let accountId: string;
beforeAll(async () => {
  accountId = await services.createAccount();
});

type Fields = MessageInitShape<typeof RecordPlatformEventRequestSchema>;

async function record(fields: Fields) {
  const platform = fields.platform ?? Platform.LIVE_PLATFORM_1;
  const answer = await services.platformEvents.recordPlatformEvent({
    accountId,
    platform,
    externalId: unique("event"),
    kind: { case: "follow", value: {} },
    ...fields,
  });
  if (answer.platformEvent === undefined) throw new Error("no platform event");
  return answer.platformEvent;
}

async function inFeed(recordId: string) {
  const feed = await services.readFeed(accountId);
  return feed.find((row) => row.record_key === `${recordId}e`);
}

describe("a platform event", () => {
  it.each<[NonNullable<Fields["kind"]>, Platform, ActivityType, Unit, number, string | null]>([
    [{ case: "follow", value: {} }, 2, ActivityType.Follow, Unit.None, 0, null],
    [
      { case: "subscription", value: { months: 3n } },
      2,
      ActivityType.Subscription,
      Unit.Months,
      3,
      null,
    ],
    [
      { case: "giftsub", value: { subscriptions: 20n } },
      3,
      ActivityType.Giftsub,
      Unit.Subscriptions,
      20,
      null,
    ],
    [{ case: "cheer", value: { amount: 9n } }, 2, ActivityType.Cheer, Unit.Bits, 9, null],
    [{ case: "cheer", value: { amount: 9n } }, 5, ActivityType.Cheer, Unit.Diamonds, 9, null],
    [{ case: "raid", value: { viewers: 0n } }, 2, ActivityType.Raid, Unit.Viewers, 0, null],
    [
      { case: "paidChatMessage", value: { amountCents: 500n, currency: "eur" } },
      4,
      ActivityType.Donation,
      Unit.Cents,
      500,
      "eur",
    ],
  ])(
    "%o of platform %i is in the feed at once",
    async (kind, platform, type, unit, value, currency) => {
      const stored = await record({ kind, platform, actorName: "Ada", message: "hi" });
      expect(stored.visible).toBe(true);
      expect(await inFeed(stored.recordId)).toMatchObject({
        ...{ type, unit, value, currency, platform },
        refunded_amount_cents: null,
        occurred_at: null,
        actor_name: "Ada",
        message: "hi",
      });
    },
  );

  it("changes nothing when it is recorded again, whatever it says", async () => {
    const externalId = unique("event");
    const stored = await record({ externalId, actorName: "Ada" });
    const again = await record({ externalId, kind: { case: "raid", value: { viewers: 5n } } });
    expect(again).toEqual(stored);
    expect(await inFeed(stored.recordId)).toMatchObject({ actor_name: "Ada", value: 0 });
  });

  it("is another one on another platform", async () => {
    const externalId = unique("event");
    const one = await record({ externalId, platform: Platform.LIVE_PLATFORM_1 });
    const other = await record({ externalId, platform: Platform.LIVE_PLATFORM_2 });
    expect(other.recordId).not.toBe(one.recordId);
  });

  it("is never in the feed when it is a test", async () => {
    const stored = await record({ test: true });
    expect(stored.visible).toBe(false);
    expect(await inFeed(stored.recordId)).toBeUndefined();
  });

  it("is gone for good once it is deleted", async () => {
    const key = { platform: Platform.LIVE_PLATFORM_1, externalId: unique("event") };
    const stored = await record({ ...key, message: "hi" });
    await services.platformEvents.deletePlatformEvent({ accountId, ...key });
    await services.platformEvents.deletePlatformEvent({ accountId, ...key });
    expect(await inFeed(stored.recordId)).toBeUndefined();
    expect(await record(key)).toEqual({ ...stored, visible: false });
    expect(await inFeed(stored.recordId)).toBeUndefined();
  });

  it("cannot be deleted when it was never stored", async () => {
    const key = { platform: Platform.LIVE_PLATFORM_1, externalId: unique("event") };
    await expect(
      services.platformEvents.deletePlatformEvent({ accountId, ...key }),
    ).rejects.toMatchObject({ code: ErrorCode.PlatformEventNotFound });
  });
});
