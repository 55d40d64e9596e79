import { Platform, type RecordPlatformEventRequestSchema } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
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
  it("changes nothing when it is recorded again, even with other fields", async () => {
    const externalId = unique("event");
    const stored = await record({ externalId, actorName: "Ada" });
    const again = await record({ externalId, kind: { case: "raid", value: { viewers: 5n } } });
    expect(again).toEqual(stored);
    expect(await inFeed(stored.recordId)).toMatchObject({ actor_name: "Ada", value: 0 });
  });

  it("is a different one on another platform", async () => {
    const externalId = unique("event");
    const one = await record({ externalId, platform: Platform.LIVE_PLATFORM_1 });
    const other = await record({ externalId, platform: Platform.LIVE_PLATFORM_2 });
    expect(other.recordId).not.toBe(one.recordId);
  });

  it("is deleted permanently", async () => {
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
