import { DeliveryState } from "@activity/proto";
import { expect, it } from "vitest";
import { createPaidDonation } from "../harness/builders.ts";
import { headerOf, useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const EVENTS = 300;
const WRITERS = 6;

const delivery = useDeliveryStack(answer(200), { delivers: false });

const countStates = () =>
  delivery.stack.database.query<{ state: DeliveryState; deliveries: number }>(
    "SELECT state, COUNT(*) AS deliveries FROM delivery GROUP BY state",
  );

it("§6.4 delivers each of 300 events that wait at once exactly once", async () => {
  const { accountId } = await delivery.createOwner();
  const writers = Array.from({ length: WRITERS }, async () => {
    for (let turn = 0; turn < EVENTS / WRITERS; turn++) {
      await createPaidDonation(delivery.stack, accountId);
    }
  });
  await Promise.all(writers);
  expect(await countStates()).toEqual([{ state: DeliveryState.PENDING, deliveries: EVENTS }]);
  expect(delivery.receiver.requests).toEqual([]);

  await delivery.startDelivering();
  await expect
    .poll(countStates, { timeout: 60_000, interval: 100 })
    .toEqual([{ state: DeliveryState.DELIVERED, deliveries: EVENTS }]);
  const ids = delivery.receiver.requests.map((request) => headerOf(request, "Service-Event-Id"));
  expect(new Set(ids).size).toBe(EVENTS);
  expect(ids).toHaveLength(EVENTS);
}, 90_000);
