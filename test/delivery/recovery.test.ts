import { AttemptOutcome, DeliveryState, EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { beforeEach, expect, it } from "vitest";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { createAccount } from "../harness/builders.ts";
import { headerOf, useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const delivery = useDeliveryStack(answer(503));
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  delivery.receiver.behaviour = answer(503);
  accountId = await createAccount(delivery.stack);
  ({ endpointId } = await delivery.createEndpoint(accountId));
});

/** The look for overdue deliveries comes every five seconds. */
const settled = { timeout: 40_000, interval: 200 };
const read = async (deliveryId: string) => {
  const { delivery: record, attempts } = await delivery.read(accountId, deliveryId);
  return { state: record?.state, outcomes: attempts.map(({ outcome }) => outcome) };
};
/** The attempts that the receiver saw of an event, by their numbers. */
const seen = (eventId: string) =>
  delivery.receiver.requests
    .filter((request) => headerOf(request, "Service-Event-Id") === eventId)
    .map((request) => headerOf(request, "Service-Attempt"));

/** Sends a test event whose first attempt fails, and whose workflow is begun. */
async function failOnce() {
  const endpoints = delivery.stack.client(EndpointService);
  const sent = await endpoints.sendTest({ accountId, endpointId });
  await expect
    .poll(async () => (await read(sent.deliveryId)).outcomes, settled)
    .toEqual([AttemptOutcome.RECEIVER_BUSY]);
  const inOutbox = () =>
    delivery.stack.database.query("SELECT run FROM outbox_entry WHERE delivery_id = ?", [
      sent.deliveryId,
    ]);
  await expect.poll(inOutbox, settled).toEqual([]);
  return sent;
}

/** Lets what is retried be as late as nothing is that Temporal still knows. */
const makeOverdue = () =>
  delivery.stack.database.query(
    "UPDATE delivery SET next_attempt_at = next_attempt_at - 900000000 WHERE state = ?",
    [DeliveryState.RETRYING],
  );

const workflowIdOf = (deliveryId: string) =>
  deliverWorkflowId({ accountNo: 0, deliveryId, run: 1 });
/** Asks Temporal as its own tools do. */
async function withTemporal<Answer>(
  ask: (client: WorkflowClient) => Promise<Answer>,
): Promise<Answer> {
  const connection = await Connection.connect({ address: delivery.temporal().address });
  try {
    return await ask(new WorkflowClient({ connection }));
  } finally {
    await connection.close();
  }
}
/** The last run of a delivery's workflow. */
const runOf = (deliveryId: string) =>
  withTemporal(
    async (client) => (await client.getHandle(workflowIdOf(deliveryId)).describe()).runId,
  );

it("tells in Temporal's UI how the first attempt ended, before the workflow has begun. ADR 0028", async () => {
  const { deliveryId } = await failOnce();
  const summary = await withTemporal(async (client) => {
    const described = await client.getHandle(workflowIdOf(deliveryId)).describe();
    return described.staticSummary();
  });
  expect(summary).toBe("attempt 1: receiver_busy");
});

it("resumes every delivery after all that Temporal knew was lost", async () => {
  const failed = [await failOnce(), await failOnce(), await failOnce()];
  delivery.receiver.behaviour = answer(200);
  const { deliveryId: delivered, eventId: done } = await delivery.stack
    .client(EndpointService)
    .sendTest({ accountId, endpointId });
  await expect.poll(async () => (await read(delivered)).outcomes, settled).toHaveLength(1);
  await delivery.loseTemporal();
  await makeOverdue();
  const again = [AttemptOutcome.RECEIVER_BUSY, AttemptOutcome.DELIVERED];
  for (const { deliveryId } of failed) {
    await expect
      .poll(() => read(deliveryId), settled)
      .toEqual({ state: DeliveryState.DELIVERED, outcomes: again });
  }
  expect(failed.map(({ eventId }) => seen(eventId))).toEqual(Array(3).fill(["1", "2"]));
  expect(seen(done)).toEqual(["1"]);
});

it("resumes a delivery whose workflow was terminated by hand", async () => {
  const { deliveryId, eventId } = await failOnce();
  await withTemporal((client) => client.getHandle(workflowIdOf(deliveryId)).terminate("by hand"));
  delivery.receiver.behaviour = answer(200);
  await makeOverdue();
  await expect
    .poll(async () => (await read(deliveryId)).state, settled)
    .toBe(DeliveryState.DELIVERED);
  expect(seen(eventId)).toEqual(["1", "2"]);
});

it("leaves a workflow that only sleeps too long as it is", async () => {
  const { deliveryId, eventId } = await failOnce();
  const before = await runOf(deliveryId);
  await makeOverdue();
  const foundOverdue = () =>
    delivery.stack.database.query(
      `SELECT 1 AS found FROM delivery WHERE id = ? AND state = ?
       AND next_attempt_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - 60000000`,
      [deliveryId, DeliveryState.RETRYING],
    );
  const inOutbox = () => delivery.stack.database.query("SELECT run FROM outbox_entry");
  await expect.poll(foundOverdue, settled).toHaveLength(1);
  await expect.poll(inOutbox, settled).toEqual([]);
  expect(await runOf(deliveryId)).toBe(before);
  expect(seen(eventId)).toEqual(["1"]);
});
