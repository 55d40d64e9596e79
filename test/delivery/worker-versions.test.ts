import { DeliveryState } from "@activity/proto";
import { Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const settled = { timeout: 40_000, interval: 100 };
const QUEUE = "versioned";
const delivery = useDeliveryStack(answer(200), {
  env: { DELIVERY_WORKFLOWS: "all", TEMPORAL_TASK_QUEUE: QUEUE, TEMPORAL_WORKER_BUILD_ID: "1.0.0" },
});
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: delivery.temporal().address });
});
afterAll(() => connection.close());

/** Sets the current version as an operator does, once Temporal knows it: when one of its workers has polled. */
async function makeCurrent(buildId: string): Promise<void> {
  const version = { namespace: "default", deploymentName: QUEUE, buildId, identity: "test" };
  const { workflowService } = connection;
  const set = () =>
    workflowService.setWorkerDeploymentCurrentVersion(version).then(() => "done", String);
  await expect.poll(set, settled).toBe("done");
}

/** The versions whose workers ran a delivery's workflow. */
async function versionsOf(deliveryId: string): Promise<(string | null | undefined)[]> {
  const { events } = await delivery.askWorkflow(deliveryId, (workflow) => workflow.fetchHistory());
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
    task ? [task.deploymentVersion?.buildId] : [],
  );
}

it("gives workflows to the current version, and to the next one once it is current. ADR 0044", async () => {
  const owner = await delivery.createOwner();
  const send = async () => {
    // Resets the limit of ten tests a minute.
    await delivery.stack.database.query("UPDATE account SET test_times = NULL");
    return delivery.sendTest(owner);
  };
  const versionsOnceDelivered = async ({ deliveryId }: { deliveryId: string }) => {
    const stateOf = () => delivery.stateOf(owner.accountId, deliveryId);
    await expect.poll(stateOf, settled).toBe(DeliveryState.DELIVERED);
    const isRecorded = async () => (await versionsOf(deliveryId)).length > 0;
    await expect.poll(isRecorded, settled).toBe(true);
    return new Set(await versionsOf(deliveryId));
  };

  const first = await send();
  await makeCurrent("1.0.0");
  expect(await versionsOnceDelivered(first)).toEqual(new Set(["1.0.0"]));

  await delivery.startDelivering({ TEMPORAL_WORKER_BUILD_ID: "1.1.0" });
  expect(await versionsOnceDelivered(await send())).toEqual(new Set(["1.0.0"]));
  await makeCurrent("1.1.0");
  // Temporal's parts learn the current version after some time. From then on nothing goes to the previous version.
  const versions = async () => versionsOnceDelivered(await send());
  await expect.poll(versions, settled).toEqual(new Set(["1.1.0"]));
  for (let sent = 0; sent < 5; sent += 1) expect(await versions()).toEqual(new Set(["1.1.0"]));
}, 150_000);
