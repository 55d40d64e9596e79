import { ApiKeyService, Platform } from "@activity/proto";
import { expect, it } from "vitest";
import { type Activity, FeedError, follow } from "../../feed/src/index.ts";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  importDonations,
} from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { baseUrlOf, connectionTo } from "./harness-feed.ts";

const stack = useTestStack();

const cheer = { case: "cheer", value: { amount: 100n } } as const;
const EVENTS: readonly Parameters<typeof createPlatformEvent>[2][] = [
  { kind: { case: "follow", value: {} } },
  { kind: { case: "subscription", value: { months: 3n } } },
  { kind: { case: "giftsub", value: { subscriptions: 5n } } },
  { kind: cheer },
  { kind: { case: "raid", value: { viewers: 40n } } },
  { kind: cheer, platform: Platform.LIVE_PLATFORM_4 },
];

async function take(follower: AsyncIterator<Activity>, count: number): Promise<Activity[]> {
  const taken: Activity[] = [];
  while (taken.length < count) {
    taken.push((await follower.next()).value ?? expect.unreachable("it ended"));
  }
  return taken;
}

/** `packed.test.ts` tests a follower that is killed. */
it("§4.4 a follower of the running product gets each record of every type once, oldest first", async () => {
  const { accountId, apiKey } = await createReader(stack);
  await importDonations(stack, accountId, 120);
  for (const event of EVENTS) await createPlatformEvent(stack, accountId, event);
  const follower = follow(connectionTo(stack, apiKey));
  const stored = await take(follower, 126);
  const { recordId } = await createPaidDonation(stack, accountId, { donorName: "Ada" });
  const [live] = await take(follower, 1);
  expect(live).toMatchObject({ id: `don_${recordId}`, type: "donation", actor: { name: "Ada" } });
  await follower.return();
  expect(new Set(stored.map(({ id }) => id)).size).toBe(126);
  expect(stored.slice(120).map(({ type, unit }) => `${type} ${unit}`)).toEqual([
    ...["follow none", "subscription months", "giftsub subscriptions"],
    ...["cheer bits", "raid viewers", "cheer diamonds"],
  ]);
});

it("§4.4 a follower gets each record once across a restart of the product", async () => {
  const { accountId, apiKey } = await createReader(stack);
  const store = async () => `evt_${await createPlatformEvent(stack, accountId)}`;
  const product = await stack.startInstance();
  const door = await openDoor(product.gatewayPort);
  const waits: string[] = [];
  const baseUrl = baseUrlOf({ gatewayPort: door.port });
  const onWait = (reason: string) => waits.push(reason);
  const follower = follow({ ...connectionTo(stack, apiKey), baseUrl, onWait });
  const ids = [await store(), await store(), await store()];
  const before = await take(follower, 3);
  const next = take(follower, 2);
  await product.stop();
  door.leadTo(undefined);
  ids.push(await store(), await store());
  await expect.poll(() => waits).toContain("network_error");
  door.leadTo((await stack.startInstance()).gatewayPort);
  const after = await next;
  await follower.return();
  door.close();
  expect([...before, ...after].map(({ id }) => id)).toEqual(ids);
});

it("§4.4 a follower ends with invalid_api_key when its key is revoked", async () => {
  const { accountId, apiKey, apiKeyId } = await createReader(stack);
  const follower = follow(connectionTo(stack, apiKey));
  await createPlatformEvent(stack, accountId);
  await take(follower, 1);
  await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
  const error = await take(follower, 1).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FeedError);
  const requestId = expect.stringMatching(/^req_/);
  expect(error).toMatchObject({ code: "invalid_api_key", requestId });
  expect(`${error}`).not.toContain(apiKey);
});
