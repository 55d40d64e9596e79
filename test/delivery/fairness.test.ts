import { DeliveryState } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { writeDeliveries } from "../harness/backlog.ts";
import {
  BUSY_ENDPOINTS,
  type FairnessStack,
  FEW,
  startFairnessStack,
  TASK_QUEUE,
} from "./harness-fairness.ts";

/** Measures for half a minute. FULL=1 uses the sizes of docs/scale.md, which take minutes. */
const CROWD = process.env.FULL
  ? { retries: 10_000, dueInMs: 180_000, timeoutMs: 400_000 }
  : { retries: 2_000, dueInMs: 30_000, timeoutMs: 120_000 };
const STARTS_AT_ONCE = 64;

let fairness: FairnessStack;
beforeAll(async () => {
  fairness = await startFairnessStack();
});
afterAll(() => fairness.stop());
afterEach(() => fairness.reset());

/** Starts workflows of an endpoint whose retries are all due at the same moment. */
async function startRetries(
  dueAt: number,
  accountId: string,
  endpointId: string | undefined,
  count: number,
): Promise<void> {
  const { delivery } = fairness;
  const { database } = delivery.stack;
  const retries = { accountId, endpointIds: endpointId ? [endpointId] : [], count };
  const failedOnce = { state: DeliveryState.RETRYING, attempts: 1, nextAttemptSeconds: 60 };
  const ids = await writeDeliveries(database, retries, failedOnce);
  const accountNo = accountNoOf(accountId) ?? 0;
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const client = new WorkflowClient({ connection });
  const starters = Array.from({ length: STARTS_AT_ONCE }, async () => {
    for (let deliveryId = ids.pop(); deliveryId !== undefined; deliveryId = ids.pop()) {
      const made = [{ outcome: AttemptOutcome.Timeout, endedAtMs: Date.now() }];
      const input = { accountNo, deliveryId, run: 1, made };
      await beginWorkflow(
        { client, taskQueue: TASK_QUEUE, nowMs: Date.now },
        input,
        Math.max(1, dueAt - Date.now()),
      );
    }
  });
  await Promise.all(starters);
  await connection.close();
}

it("makes a first attempt before all but a few of 100,000 deliveries to endpoints that hang", async () => {
  await fairness.writeBacklog();
  expect(await fairness.mostBeforeFirstAttempts(15_000)).toBeLessThan(FEW);
  expect(fairness.busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);

it(
  "makes another account's retry before a third of a crowd's that were due sooner, at an endpoint that hangs",
  async () => {
    const { stack } = fairness.delivery;
    const dueAt = Date.now() + CROWD.dueInMs;
    const hanging = fairness.busyEndpointIds[1];
    const before = fairness.quietRequests();
    // It is due after the crowd. In order of time it would come last.
    await startRetries(dueAt + 1_000, fairness.quietId, fairness.quietEndpointId, 1);
    await startRetries(dueAt, fairness.busyId, hanging, CROWD.retries);
    const [planned] = await stack.database.query<{ at: number }>(
      "SELECT MAX(next_attempt_at) AS at FROM delivery WHERE endpoint_id = ?",
      [hanging],
    );
    await expect
      .poll(fairness.quietRequests, { timeout: CROWD.timeoutMs, interval: 20 })
      .toBe(before + 1);
    const sinceDueMs = Date.now() - dueAt - 1_000;
    const [asked] = await stack.database.query<{ n: number }>(
      "SELECT COUNT(*) AS n FROM delivery WHERE endpoint_id = ? AND next_attempt_at <> ?",
      [hanging, planned?.at],
    );
    process.stderr.write(
      `a retry beside ${CROWD.retries}: ${sinceDueMs} ms after it was due, ${asked?.n} of the crowd before it\n`,
    );
    expect(asked?.n).toBeLessThan(CROWD.retries / 3);
  },
  CROWD.timeoutMs,
);
