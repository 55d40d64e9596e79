import { DeliveryState, EndpointService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { FAULTS } from "./harness-faults.ts";
import { useKitStack } from "./harness-kit.ts";
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
/** The product must have seen each of these answers at least once. */
const WANTED_ANSWERS = [
  "204",
  "404",
  "500",
  "no answer in time",
  "the connection was refused (ECONNREFUSED)",
  "204 after the owner's retry",
];

const kit = useKitStack();

/** `receiver-kit/test` tests every framework and store with single events. */
describe("an event's effect is there exactly once at a receiver built on the packed kit", () => {
  it("while kills, failing work, lost and late answers, and repeated requests happen", async () => {
    kit.faults.follow("withKills");
    await Promise.all([writeEverything(kit, TURNS_WITH_KILLS, "withKills"), killAtRandom(kit)]);
    kit.faults.follow("withoutKills");
    await writeEverything(kit, TURNS_WITHOUT_KILLS, "withoutKills");
    await untilEachWasTried(kit);
    kit.faults.follow("nothing");
    await loseTheRoute(kit);
    await retryFailed(kit);
    await untilAllDelivered(kit);
    await expectEveryEffectOnce(kit);
    expect([...kit.faults.happened].toSorted()).toEqual(FAULTS.toSorted());
    expect(await readAnswers(kit)).toEqual(expect.arrayContaining(WANTED_ANSWERS));
  }, 600_000);

  it("when each fresh request comes again, byte for byte, and one many times at once", async () => {
    const eventIds = kit.faults.freshEventIds(Date.now());
    expect(eventIds.length).toBeGreaterThan(0);
    for (const eventId of eventIds) expect(await kit.sendCopy(eventId)).toBe(204);
    const [eventId = ""] = eventIds;
    const copies = Array.from({ length: COPIES_AT_ONCE }, () => kit.sendCopy(eventId));
    expect(new Set(await Promise.all(copies))).toEqual(new Set([204]));
    await expectEveryEffectOnce(kit);
  }, 60_000);

  it("and a forged, changed or late request has no effect", async () => {
    expect(await kit.trySend()).toContain("The receiver is right.");
    await expectEveryEffectOnce(kit);
  });

  it("and the owner's test event is delivered, with no effect", async () => {
    const { accountId, endpointId } = kit;
    const { eventId } = await kit.stack.client(EndpointService).sendTest({ accountId, endpointId });
    const testDelivery = async () =>
      (await readDeliveries(kit)).find((delivery) => delivery.eventId === eventId);
    const delivered = { test: true, state: DeliveryState.DELIVERED, attempts: 1 };
    await expect.poll(testDelivery).toMatchObject(delivered);
    await expectEveryEffectOnce(kit);
  }, 30_000);
});
