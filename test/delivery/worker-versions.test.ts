import { DeliveryState, EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readDeliveryConfig } from "../../workflows/src/config.ts";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { createAccount } from "../harness/builders.ts";
import { type DeliveryStack, startDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const settled = { timeout: 40_000, interval: 100 };
const QUEUE = "versioned";
let delivery: DeliveryStack;
let connection: Connection;
beforeAll(async () => {
  delivery = await startDeliveryStack(answer(200), {
    env: {
      DELIVERY_WORKFLOWS: "all",
      TEMPORAL_TASK_QUEUE: QUEUE,
      TEMPORAL_WORKER_BUILD_ID: "1.0.0",
    },
  });
  connection = await Connection.connect({ address: delivery.temporal().address });
});
afterAll(async () => {
  await connection.close();
  await delivery.stop();
});

/** As an operator does; Temporal knows a version once a worker of it has polled. */
const makeCurrent = (buildId: string) =>
  expect
    .poll(
      () =>
        connection.workflowService
          .setWorkerDeploymentCurrentVersion({
            ...{ namespace: "default", deploymentName: QUEUE, buildId, identity: "test" },
          })
          .then(() => "done", String),
      settled,
    )
    .toBe("done");

/** The versions that worked on a delivery's workflow. */
async function versionsOf(deliveryId: string): Promise<(string | null | undefined)[]> {
  const workflowId = deliverWorkflowId({ accountNo: 0, deliveryId, run: 1 });
  const { events } = await new WorkflowClient({ connection }).getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
    task ? [task.deploymentVersion?.buildId] : [],
  );
}

it("gives workflows to the version that is current, and to the next one once that is. ADR 0044", async () => {
  const accountId = await createAccount(delivery.stack);
  const { endpointId } = await delivery.createEndpoint(accountId);
  const send = () => delivery.stack.client(EndpointService).sendTest({ accountId, endpointId });
  const stateOf = async (deliveryId: string) =>
    (await delivery.read(accountId, deliveryId)).delivery?.state;
  const versionsOnceDelivered = async ({ deliveryId }: { deliveryId: string }) => {
    await expect.poll(() => stateOf(deliveryId), settled).toBe(DeliveryState.DELIVERED);
    const isRecorded = async () => (await versionsOf(deliveryId)).length > 0;
    await expect.poll(isRecorded, settled).toBe(true);
    return new Set(await versionsOf(deliveryId));
  };

  const first = await send();
  await makeCurrent("1.0.0");
  expect(await versionsOnceDelivered(first)).toEqual(new Set(["1.0.0"]));

  const allowed = { WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${delivery.receiver.port}` };
  const next = readDeliveryConfig({
    ...{ ...allowed, ALLOW_UNSAFE_TARGETS: "development", DELIVERY_WORKFLOWS: "all" },
    ...{ WEBHOOK_EXTRA_CA: delivery.extraCa, TEMPORAL_ADDRESS: delivery.temporal().address },
    ...{ TEMPORAL_TASK_QUEUE: QUEUE, TEMPORAL_WORKER_BUILD_ID: "1.1.0" },
  });
  await delivery.stack.startInstance({ deliveries: next });
  expect(await versionsOnceDelivered(await send())).toEqual(new Set(["1.0.0"]));
  await makeCurrent("1.1.0");
  // Temporal tells its parts of it in its own time; from then on none goes to the version before.
  const versions = async () => versionsOnceDelivered(await send());
  await expect.poll(versions, settled).toEqual(new Set(["1.1.0"]));
  for (let sent = 0; sent < 5; sent += 1) expect(await versions()).toEqual(new Set(["1.1.0"]));
}, 150_000);
