import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import { PROGRESS, type Progress } from "../../workflows/src/workflow/contract.ts";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const delivery = useDeliveryStack(answer(200), { env: { DELIVERY_WORKFLOWS: "all" } });
let owner: Awaited<ReturnType<typeof delivery.createOwner>>;
beforeEach(async () => {
  delivery.receiver.behaviour = answer(200);
  owner = await delivery.createOwner();
});

const settled = { timeout: 40_000, interval: 100 };
const stateOf = (deliveryId: string) => delivery.stateOf(owner.accountId, deliveryId);
/** Asks Temporal for the progress of a delivery's first run, as anyone may in its own UI. */
const progressOf = (deliveryId: string) =>
  delivery.askWorkflow(deliveryId, (workflow) => workflow.query<Progress>(PROGRESS));

it("makes the first attempt in the run's workflow, which tells of it. ADR 0028", async () => {
  const { deliveryId, eventId } = await delivery.sendTest(owner);
  await expect.poll(() => stateOf(deliveryId), settled).toBe(DeliveryState.DELIVERED);
  expect(delivery.attemptsOf(eventId)).toEqual(["1"]);
  const { attempts } = await progressOf(deliveryId);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(["delivered"]);
});

it("waits a minute on a timer of that workflow after an attempt that is retried. §6.4", async () => {
  delivery.receiver.behaviour = answer(503);
  const { deliveryId, eventId } = await delivery.sendTest(owner);
  await expect.poll(() => stateOf(deliveryId), settled).toBe(DeliveryState.RETRYING);
  const { delivery: record, attempts } = await delivery.read(owner.accountId, deliveryId);
  expect(attempts.map(({ outcome }) => outcome)).toEqual([AttemptOutcome.RECEIVER_BUSY]);
  const { nextDueAt } = await progressOf(deliveryId);
  const planned = Number(record?.nextAttemptAt?.seconds);
  expect(Math.abs(Date.parse(nextDueAt) / 1000 - planned)).toBeLessThan(10);
  expect(delivery.attemptsOf(eventId)).toEqual(["1"]);
  await expect.poll(() => delivery.entriesOf(deliveryId), settled).toEqual([]);
});
