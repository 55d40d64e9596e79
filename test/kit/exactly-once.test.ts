import { DeliveryState, EndpointService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { useStarted } from "../harness/use-started.ts";
import { FAULTS, type PLANS } from "./harness-faults.ts";
import { type KitReceiver, startKitStack } from "./harness-kit.ts";
import {
  expectEveryEffectOnce,
  killAtRandom,
  loseTheRoute,
  readAnswers,
  readDeliveries,
  retryFailed,
  untilAllDelivered,
  untilEachWasTried,
  writeEverything,
} from "./harness-story.ts";

const TURNS_WITH_KILLS = 30;
const TURNS_WITHOUT_KILLS = 5;
const COPIES_AT_ONCE = 20;
/** What some of the product's attempts must have come to for the story to be the one it is. */
const WANTED_ANSWERS = [
  "204",
  "404",
  "500",
  "no answer in time",
  "the connection was refused (ECONNREFUSED)",
  "204 after the owner's retry",
];

const kit = useStarted(startKitStack, 300_000);

const forEachReceiver = (work: (receiver: KitReceiver) => Promise<unknown>) =>
  Promise.all(kit.receivers.map(work));

const follow = (plan: keyof typeof PLANS) => {
  for (const { faults } of kit.receivers) faults.follow(plan);
};

describe("an event's effect is there exactly once at receivers built on the packed kit", () => {
  it("while they are killed at any moment, work fails, answers are lost or late, and requests repeat", async () => {
    follow("withKills");
    await Promise.all([
      writeEverything(kit, TURNS_WITH_KILLS, "withKills"),
      forEachReceiver(killAtRandom),
    ]);
    follow("withoutKills");
    await writeEverything(kit, TURNS_WITHOUT_KILLS, "withoutKills");
    await forEachReceiver((receiver) => untilEachWasTried(kit, receiver));
    follow("nothing");
    await forEachReceiver((receiver) => loseTheRoute(kit, receiver));
    await retryFailed(kit);
    await forEachReceiver((receiver) => untilAllDelivered(kit, receiver));
    await forEachReceiver((receiver) => expectEveryEffectOnce(kit, receiver));
    await forEachReceiver(async (receiver) => {
      expect([...receiver.faults.happened.keys()].toSorted()).toEqual(FAULTS.toSorted());
      const answers = await readAnswers(kit, receiver);
      expect(answers).toEqual(expect.arrayContaining(WANTED_ANSWERS));
    });
  }, 600_000);

  it("when every request that is still fresh comes again, byte for byte, and one many times at once", async () => {
    await forEachReceiver(async ({ faults, sendCopy }) => {
      const eventIds = faults.freshEventIds(Date.now());
      expect(eventIds.length).toBeGreaterThan(0);
      for (const eventId of eventIds) expect(await sendCopy(eventId)).toBe(204);
      const [eventId = ""] = eventIds;
      const copies = Array.from({ length: COPIES_AT_ONCE }, () => sendCopy(eventId));
      expect(new Set(await Promise.all(copies))).toEqual(new Set([204]));
    });
    await forEachReceiver((receiver) => expectEveryEffectOnce(kit, receiver));
  }, 60_000);

  it("and none is there of an event that was forged, changed, or signed at another time", async () => {
    await forEachReceiver(async ({ trySend }) =>
      expect(await trySend()).toContain("The receiver is right."),
    );
    await forEachReceiver((receiver) => expectEveryEffectOnce(kit, receiver));
  });

  it("and none is there of the owner's test event, which is delivered", async () => {
    const endpoints = kit.stack.client(EndpointService);
    await forEachReceiver(async (receiver) => {
      const { accountId } = kit;
      const { endpointId } = receiver;
      const { eventId } = await endpoints.sendTest({ accountId, endpointId });
      const testDelivery = async () =>
        (await readDeliveries(kit, receiver)).find((delivery) => delivery.eventId === eventId);
      await expect
        .poll(testDelivery, { timeout: 15_000 })
        .toMatchObject({ test: true, state: DeliveryState.DELIVERED, attempts: 1 });
      expect(await receiver.database.readEffects()).not.toContain(eventId);
    });
    await forEachReceiver((receiver) => expectEveryEffectOnce(kit, receiver));
  }, 30_000);
});
