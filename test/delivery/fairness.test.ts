import { setTimeout as wait } from "node:timers/promises";
import { DeliveryState } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { writeDeliveries } from "../harness/backlog.ts";
import {
  BOUND_MS,
  BUSY_ENDPOINTS,
  type FairnessStack,
  startFairnessStack,
  TASK_QUEUE,
} from "./harness-fairness.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const RETRIES = 2_000;
/** What it takes to tell Temporal of all retries. */
const RETRIES_DUE_IN_MS = 20_000;
/** How many retries a worker makes at one endpoint at a time. */
const SLOTS = 16;
const STARTS_AT_ONCE = 64;

let fairness: FairnessStack;
beforeAll(async () => {
  fairness = await startFairnessStack();
});
afterAll(() => fairness.stop());
afterEach(() => fairness.reset());

/** Puts deliveries to sleep that are all tried again at one moment, at one endpoint. */
async function startRetries(dueAt: number): Promise<void> {
  const { delivery, busyId, busyEndpointIds } = fairness;
  const { database } = delivery.stack;
  const retries = { accountId: busyId, endpointIds: busyEndpointIds.slice(0, 1), count: RETRIES };
  const failedOnce = { state: DeliveryState.RETRYING, attempts: 1, nextAttemptSeconds: 60 };
  const ids = await writeDeliveries(database, retries, failedOnce);
  const [account] = await database.query<{ account_no: number }>(
    "SELECT account_no FROM account WHERE id = ?",
    [busyId],
  );
  const accountNo = account?.account_no ?? 0;
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const client = new WorkflowClient({ connection });
  const starters = Array.from({ length: STARTS_AT_ONCE }, async () => {
    for (let deliveryId = ids.pop(); deliveryId !== undefined; deliveryId = ids.pop()) {
      const made = [{ outcome: AttemptOutcome.Timeout, endedAtMs: Date.now() }];
      const input = { accountNo, deliveryId, run: 1, made };
      await beginWorkflow(
        { client, taskQueue: TASK_QUEUE },
        input,
        Math.max(1, dueAt - Date.now()),
      );
    }
  });
  await Promise.all(starters);
  await connection.close();
}

it("keeps a first attempt within 2 seconds beside 100,000 deliveries to endpoints that hang", async () => {
  await fairness.writeBacklog();
  const took = await fairness.firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(fairness.busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);

it("keeps a first attempt within 2 seconds while 2,000 retries are due at once at an endpoint that hangs", async () => {
  await expect.poll(fairness.inFlight.now).toBe(0);
  fairness.inFlight.reset();
  const dueAt = Date.now() + RETRIES_DUE_IN_MS;
  await startRetries(dueAt);
  await wait(Math.max(0, dueAt - Date.now() - 1_000));
  const took = await fairness.firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  // The endpoint had all that it may have, and no more.
  await expect.poll(fairness.inFlight.most).toBeGreaterThanOrEqual(SLOTS);
  expect(fairness.inFlight.most()).toBe(SLOTS);
}, 120_000);

it("keeps a first attempt within 2 seconds beside 100,000 deliveries to endpoints that fail at once", async () => {
  fairness.setBusy(answer(500));
  const before = fairness.busyRequests();
  await fairness.writeBacklog();
  const took = await fairness.firstAttemptsFor(12_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(fairness.busyRequests() - before).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);
