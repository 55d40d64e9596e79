import { setTimeout as wait } from "node:timers/promises";
import { DeliveryState } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { useKitStack } from "./harness-kit.ts";

/** Faults of the receiver. `receivers/points.js` reads its fault from a donation's message. */
const FAULTS = ["killed before commit", "killed before answer", "work fails"];
const LATE = "answers late";
const ROUNDS = 2;
/** Shorter than a start of the receiver, so that some attempts find it dead. */
const PAUSE_MS = 300;
/** The product must have seen each of these answers at least once. */
const WANTED_ANSWERS = [
  "204",
  "500",
  "no answer in time",
  "the connection was refused (ECONNREFUSED)",
];
/** A retry that cannot reach the receiver is repeated five minutes later. §6.4 */
const DELIVERED = { timeout: 400_000, interval: 500 };

const kit = useKitStack();

const untilAll = (isReached: (one: { attempts: number; state: DeliveryState }) => boolean) =>
  expect
    .poll(async () => (await kit.readDeliveries()).filter((one) => !isReached(one)), DELIVERED)
    .toEqual([]);

/** Checks that every event, except tests, has its effect in the receiver's database exactly once. */
async function expectEveryEffectOnce(): Promise<void> {
  const deliveries = await kit.readDeliveries();
  const eventIds = deliveries.filter(({ test }) => !test).map(({ eventId }) => eventId);
  expect(eventIds.length).toBeGreaterThan(0);
  expect((await kit.readEffects()).toSorted()).toEqual(eventIds.toSorted());
}

/**
 * `receiver-kit/test` tests repeated and concurrent requests, and every framework and store, with single events.
 * `test/delivery/round-trip.test.ts` tests the owner's retries.
 */
describe("an event's effect is there exactly once at a receiver built on the packed kit", () => {
  it("while kills, failing work, and lost and late answers happen", async () => {
    for (const fault of [LATE, "", LATE]) await kit.donate(fault);
    await kit.sendTest();
    // Waits for the late answers, because a kill could come before them.
    await untilAll(({ attempts }) => attempts > 0);
    for (const fault of Array<string[]>(ROUNDS).fill(FAULTS).flat()) {
      const times = () => kit.output().split(`fault: ${fault}`).length;
      // Repeats the donations, because the receiver may be dead.
      for (const before = times(); times() === before; await wait(PAUSE_MS)) {
        for (const message of [fault, ""]) await kit.donate(message);
      }
    }
    await untilAll(({ state }) => state === DeliveryState.DELIVERED);
    await expectEveryEffectOnce();
    expect(await kit.readAnswers()).toEqual(expect.arrayContaining(WANTED_ANSWERS));
  }, 600_000);

  it("and a forged, changed or late request has no effect", async () => {
    expect(await kit.trySend()).toContain("The receiver passed all checks.");
    await expectEveryEffectOnce();
  });
});
