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
it("§4.4 a follower gets each record of every type once, in order, across a restart, until its key is revoked", async () => {
  const { accountId, apiKey, apiKeyId } = await createReader(stack);
  await importDonations(stack, accountId, 120);
  for (const event of EVENTS) await createPlatformEvent(stack, accountId, event);
  const product = await stack.startInstance();
  const door = await openDoor(product.gatewayPort);
  const waits: string[] = [];
  const baseUrl = baseUrlOf({ gatewayPort: door.port });
  const onWait = (reason: string) => waits.push(reason);
  const follower = follow({ ...connectionTo(stack, apiKey), baseUrl, onWait });
  const stored = await take(follower, 126);
  expect(stored.slice(120).map(({ type, unit }) => `${type} ${unit}`)).toEqual([
    ...["follow none", "subscription months", "giftsub subscriptions"],
    ...["cheer bits", "raid viewers", "cheer diamonds"],
  ]);
  const store = async (donorName: string) =>
    `don_${(await createPaidDonation(stack, accountId, { donorName })).recordId}`;
  const ada = await store("Ada");
  const [live] = await take(follower, 1);
  expect(live).toMatchObject({ id: ada, type: "donation", actor: { name: "Ada" } });

  const next = take(follower, 2);
  await product.stop();
  door.leadTo(undefined);
  const missed = [await store("Bea"), await store("Cai")];
  await expect.poll(() => waits).toContain("network_error");
  door.leadTo((await stack.startInstance()).gatewayPort);
  const after = await next;
  expect(after.map(({ id }) => id)).toEqual(missed);
  expect(new Set([...stored, live, ...after].map((record) => record?.id)).size).toBe(129);

  await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
  const error = await take(follower, 1).catch((thrown: unknown) => thrown);
  door.close();
  expect(error).toBeInstanceOf(FeedError);
  const requestId = expect.stringMatching(/^req_/);
  expect(error).toMatchObject({ code: "invalid_api_key", requestId });
  expect(`${error}`).not.toContain(apiKey);
});
