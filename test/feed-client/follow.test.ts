import { Platform } from "@activity/proto";
import { expect, it } from "vitest";
import { type Activity, follow } from "../../feed/src/index.ts";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  importDonations,
} from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { connectionTo } from "./harness-feed.ts";

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

/** `packed.test.ts` tests a follower that is killed. */
it("§4.4 a follower of the running product gets each record of every type once, oldest first", async () => {
  const { accountId, apiKey } = await createReader(stack);
  await importDonations(stack, accountId, 120);
  for (const event of EVENTS) await createPlatformEvent(stack, accountId, event);
  const follower = follow(connectionTo(stack, apiKey));
  const next = async (): Promise<Activity> =>
    (await follower.next()).value ?? expect.unreachable("it ended");
  const stored: Activity[] = [];
  while (stored.length < 126) stored.push(await next());
  const { recordId } = await createPaidDonation(stack, accountId, { donorName: "Ada" });
  expect(await next()).toMatchObject({
    ...{ id: `don_${recordId}`, type: "donation", actor: { name: "Ada" } },
  });
  await follower.return();
  expect(new Set(stored.map(({ id }) => id)).size).toBe(126);
  expect(stored.slice(120).map(({ type, unit }) => `${type} ${unit}`)).toEqual([
    ...["follow none", "subscription months", "giftsub subscriptions"],
    ...["cheer bits", "raid viewers", "cheer diamonds"],
  ]);
});
