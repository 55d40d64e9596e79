import { EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { createAccount } from "../harness/builders.ts";
import { type DeliveryStack, startDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const SETTLED = { timeout: 40_000, interval: 100 };
/** Longer than the test waits, and no longer than a lease can be: nobody claims the entry again meanwhile. */
const LONGER_MICROS = 50_000_000;

let delivery: DeliveryStack;
let connection: Connection;
beforeAll(async () => {
  delivery = await startDeliveryStack(answer(503));
  connection = await Connection.connect({ address: delivery.temporal().address });
});
afterAll(async () => {
  await connection?.close();
  await delivery?.stop();
});

it("what Temporal acknowledged leaves the outbox under its lease, as soon as the database lets it. ADR 0028", async () => {
  const { database } = delivery.stack;
  const accountId = await createAccount(delivery.stack);
  const { endpointId } = await delivery.createEndpoint(accountId);
  await database.query(
    `CREATE TRIGGER nothing_leaves BEFORE DELETE ON outbox_entry FOR EACH ROW
     SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nothing leaves'`,
  );
  const endpoints = delivery.stack.client(EndpointService);
  const { deliveryId } = await endpoints.sendTest({ accountId, endpointId });
  const workflow = new WorkflowClient({ connection }).getHandle(
    deliverWorkflowId({ accountNo: 0, deliveryId, run: 1 }),
  );
  const runId = () =>
    workflow.describe().then(
      (described) => described.runId,
      () => undefined,
    );
  await expect.poll(runId, SETTLED).toBeDefined();
  const begun = await runId();
  const ofRetry = "lease_id IS NOT NULL AND task = 2";
  await database.query(
    `UPDATE outbox_entry SET leased_until = leased_until + ${LONGER_MICROS} WHERE ${ofRetry}`,
  );
  const entries = () => database.query("SELECT task FROM outbox_entry");
  expect(await entries()).toEqual([{ task: 2 }]);
  await database.query("DROP TRIGGER nothing_leaves");
  await expect.poll(entries, SETTLED).toEqual([]);
  expect(await runId()).toBe(begun);
}, 120_000);
