import { AttemptOutcome, DeliveryState, EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { deliverWorkflowId } from "../../workflows/src/contract.ts";
import { createAccount } from "../harness/builders.ts";
import { writeDeliveries } from "./harness-backlog.ts";
import { type DeliveryStack, headerOf, startDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

let delivery: DeliveryStack;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  delivery = await startDeliveryStack(answer(503));
});
afterAll(() => delivery.stop());
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

/** Sends a test event whose first attempt fails. */
async function failOnce() {
  const endpoints = delivery.stack.client(EndpointService);
  const sent = await endpoints.sendTest({ accountId, endpointId });
  await expect
    .poll(async () => (await read(sent.deliveryId)).outcomes, settled)
    .toEqual([AttemptOutcome.RECEIVER_BUSY]);
  return sent;
}

/** Lets what is under way be as late as nothing is that the engine still knows. */
const makeOverdue = () =>
  delivery.stack.database.query(
    "UPDATE delivery SET next_attempt_at = next_attempt_at - 900000000 WHERE state = ?",
    [DeliveryState.HANDED_OVER],
  );

const workflowIdOf = (deliveryId: string) => deliverWorkflowId({ deliveryId, sequence: 1 });
/** Asks the engine as its own tools do. */
async function withEngine<Answer>(
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
  withEngine(async (client) => (await client.getHandle(workflowIdOf(deliveryId)).describe()).runId);

it("goes on with every delivery after all that Temporal knew was lost", async () => {
  const failed = [await failOnce(), await failOnce(), await failOnce()];
  delivery.receiver.behaviour = answer(200);
  const { deliveryId: delivered, eventId: done } = await delivery.stack
    .client(EndpointService)
    .sendTest({ accountId, endpointId });
  await expect.poll(async () => (await read(delivered)).outcomes, settled).toHaveLength(1);
  const handedOver = { state: DeliveryState.HANDED_OVER, attempts: 0, nextAttemptSeconds: 0 };
  const one = { accountId, endpointIds: [endpointId], count: 1, prefix: "justhanded" };
  const [neverMade = ""] = await writeDeliveries(delivery.stack.database, one, handedOver);

  await delivery.loseTemporal();
  await makeOverdue();
  const again = [AttemptOutcome.RECEIVER_BUSY, AttemptOutcome.DELIVERED];
  for (const { deliveryId } of failed) {
    await expect
      .poll(() => read(deliveryId), settled)
      .toEqual({ state: DeliveryState.DELIVERED, outcomes: again });
  }
  await expect
    .poll(() => read(neverMade), settled)
    .toEqual({ state: DeliveryState.DELIVERED, outcomes: [AttemptOutcome.DELIVERED] });
  expect(failed.map(({ eventId }) => seen(eventId))).toEqual(Array(3).fill(["1", "2"]));
  expect(seen(done)).toEqual(["1"]);
});

it("goes on with a delivery whose workflow was terminated by hand", async () => {
  const { deliveryId, eventId } = await failOnce();
  await withEngine((client) => client.getHandle(workflowIdOf(deliveryId)).terminate("by hand"));
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
  const handedOverAgain = () =>
    delivery.stack.database.query(
      `SELECT 1 AS found FROM delivery WHERE id = ? AND state = ?
       AND next_attempt_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - 60000000`,
      [deliveryId, DeliveryState.HANDED_OVER],
    );
  await expect.poll(handedOverAgain, settled).toHaveLength(1);
  expect(await runOf(deliveryId)).toBe(before);
  expect(seen(eventId)).toEqual(["1"]);
});
