import { ApiKeyService, Platform } from "@activity/proto";
import { describe, it } from "vitest";
import { FeedError, follow } from "../../feed/src/index.ts";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  importDonations,
} from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { baseUrlOf, connectionTo, take } from "./harness-feed.ts";

const stack = useTestStack();

/** Stores follows. Returns their ids in the feed. */
async function storeFollows(accountId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(`evt_${await createPlatformEvent(stack, accountId)}`);
  }
  return ids;
}
/** `packed.test.ts` tests a follower that is killed. */
describe("§4.4 a follower of the running product", () => {
  it.concurrent("is given each record of every type once, oldest first", async ({ expect }) => {
    const { accountId, apiKey } = await createReader(stack);
    await importDonations(stack, accountId, 120);
    const kinds = [
      { case: "follow", value: {} },
      { case: "subscription", value: { months: 3n } },
      { case: "giftsub", value: { subscriptions: 5n } },
      { case: "cheer", value: { amount: 100n } },
      { case: "raid", value: { viewers: 40n } },
    ] as const;
    for (const kind of kinds) await createPlatformEvent(stack, accountId, { kind });
    await createPlatformEvent(stack, accountId, {
      platform: Platform.LIVE_PLATFORM_4,
      kind: kinds[3],
    });
    const follower = follow(connectionTo(stack, apiKey));
    const stored = await take(follower, 126);
    const { recordId } = await createPaidDonation(stack, accountId, { donorName: "Ada" });
    const [live] = await take(follower, 1);
    await follower.return();
    expect(live).toMatchObject({ id: `don_${recordId}`, type: "donation", actor: { name: "Ada" } });
    expect(new Set(stored.map(({ id }) => id)).size).toBe(126);
    expect(stored.slice(120).map(({ type, unit }) => `${type} ${unit}`)).toEqual([
      ...["follow none", "subscription months", "giftsub subscriptions"],
      ...["cheer bits", "raid viewers", "cheer diamonds"],
    ]);
  });

  it.concurrent("is given each record once across a restart of the product", async ({ expect }) => {
    const { accountId, apiKey } = await createReader(stack);
    const product = await stack.startInstance();
    const door = await openDoor(product.gatewayPort);
    const waits: string[] = [];
    const follower = follow({
      ...connectionTo(stack, apiKey),
      baseUrl: baseUrlOf(door.port),
      onWait: (reason) => waits.push(reason),
    });
    const ids = await storeFollows(accountId, 3);
    const before = await take(follower, 3);
    const next = take(follower, 2);
    await product.stop();
    door.leadTo(undefined);
    ids.push(...(await storeFollows(accountId, 2)));
    await expect.poll(() => waits).toContain("network_error");
    door.leadTo((await stack.startInstance()).gatewayPort);
    const after = await next;
    await follower.return();
    door.close();
    expect([...before, ...after].map(({ id }) => id)).toEqual(ids);
  });

  it.concurrent("ends with invalid_api_key when its key is revoked", async ({ expect }) => {
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    const follower = follow(connectionTo(stack, apiKey));
    await createPlatformEvent(stack, accountId);
    await take(follower, 1);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    const error = await take(follower, 1).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(FeedError);
    const requestId = expect.stringMatching(/^req_/);
    expect(error).toMatchObject({ code: "invalid_api_key", requestId });
    expect(`${error}`).not.toContain(apiKey);
  });
});
