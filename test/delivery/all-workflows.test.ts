import { AttemptOutcome, DeliveryState, EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { beforeEach, expect, it } from "vitest";
import {
  deliverWorkflowId,
  PROGRESS,
  type Progress,
} from "../../workflows/src/workflow/contract.ts";
import { writePending } from "../harness/backlog.ts";
import { createAccount } from "../harness/builders.ts";
import { headerOf, useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const delivery = useDeliveryStack(answer(200), { env: { DELIVERY_WORKFLOWS: "all" } });
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  delivery.receiver.behaviour = answer(200);
  accountId = await createAccount(delivery.stack);
  ({ endpointId } = await delivery.createEndpoint(accountId));
});

const settled = { timeout: 40_000, interval: 100 };
const sendTest = () => delivery.stack.client(EndpointService).sendTest({ accountId, endpointId });
const stateOf = async (deliveryId: string) =>
  (await delivery.read(accountId, deliveryId)).delivery?.state;
const seen = (eventId: string) =>
  delivery.receiver.requests
    .filter((request) => headerOf(request, "Service-Event-Id") === eventId)
    .map((request) => headerOf(request, "Service-Attempt"));

/** Asks Temporal for the progress of a delivery's first run, as anyone may in its own UI. */
async function progressOf(deliveryId: string): Promise<Progress> {
  const connection = await Connection.connect({ address: delivery.temporal().address });
  try {
    const workflowId = deliverWorkflowId({ accountNo: 0, deliveryId, run: 1 });
    return await new WorkflowClient({ connection }).getHandle(workflowId).query(PROGRESS);
  } finally {
    await connection.close();
  }
}

it("makes the first attempt in the run's workflow, which tells of it. ADR 0028", async () => {
  const { deliveryId, eventId } = await sendTest();
  await expect.poll(() => stateOf(deliveryId), settled).toBe(DeliveryState.DELIVERED);
  expect(seen(eventId)).toEqual(["1"]);
  const { attempts } = await progressOf(deliveryId);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(["delivered"]);
});

it("waits a minute on a timer of that workflow after an attempt that is retried. §6.4", async () => {
  delivery.receiver.behaviour = answer(503);
  const { deliveryId, eventId } = await sendTest();
  await expect.poll(() => stateOf(deliveryId), settled).toBe(DeliveryState.RETRYING);
  const { delivery: record, attempts } = await delivery.read(accountId, deliveryId);
  expect(attempts.map(({ outcome }) => outcome)).toEqual([AttemptOutcome.RECEIVER_BUSY]);
  const { nextDueAt } = await progressOf(deliveryId);
  const planned = Number(record?.nextAttemptAt?.seconds);
  expect(Math.abs(Date.parse(nextDueAt) / 1000 - planned)).toBeLessThan(10);
  expect(seen(eventId)).toEqual(["1"]);
  const inOutbox = () =>
    delivery.stack.database.query("SELECT run FROM outbox_entry WHERE delivery_id = ?", [
      deliveryId,
    ]);
  await expect.poll(inOutbox, settled).toEqual([]);
});

it("delivers each of 200 events that wait at once exactly once", async () => {
  const backlog = { accountId, endpointIds: [endpointId], count: 200 };
  const before = delivery.receiver.requests.length;
  const ids = await writePending(delivery.stack.database, backlog);
  const delivered = async () =>
    delivery.stack.database.query<{ n: number }>(
      "SELECT COUNT(*) AS n FROM delivery WHERE id IN (?) AND state = ?",
      [ids, DeliveryState.DELIVERED],
    );
  await expect.poll(delivered, settled).toEqual([{ n: 200 }]);
  expect(delivery.receiver.requests).toHaveLength(before + 200);
});

it("keeps first attempts while Temporal is away, and makes them when it is back", async () => {
  await delivery.killTemporal();
  const { deliveryId, eventId } = await sendTest();
  expect(await stateOf(deliveryId)).toBe(DeliveryState.PENDING);
  await delivery.restartTemporal();
  await expect.poll(() => stateOf(deliveryId), settled).toBe(DeliveryState.DELIVERED);
  expect(seen(eventId)).toEqual(["1"]);
}, 90_000);
