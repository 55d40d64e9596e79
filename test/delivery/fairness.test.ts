import { setTimeout as wait } from "node:timers/promises";
import { DeliveryState } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { inParallel } from "../harness/attack.ts";
import { writeDeliveries, writePending } from "../harness/backlog.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { bodyOf, headerOf, useDeliveryStack } from "./harness-deliveries.ts";
import type { ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const BUSY_ENDPOINTS = 10;
const BACKLOG = 100_000;
/** Fewer than this, a hundredth of the backlog, may come before another account's first attempt. */
const FEW = BACKLOG / 100;
const MEASURED_MS = 15_000;
const ARRIVES_WITHIN_MS = 30_000;
/** Measures for half a minute. FULL=1 uses the sizes of docs/scale.md, which take minutes. */
const CROWD = process.env.FULL
  ? { retries: 10_000, dueInMs: 180_000, timeoutMs: 400_000 }
  : { retries: 2_000, dueInMs: 45_000, timeoutMs: 180_000 };
const STARTS_AT_ONCE = 64;
/** The task queue of the product's workflows. The tests also start workflows in it. */
const TASK_QUEUE = "fairness";

const isBusy = ({ requestLine }: ReceivedRequest) => requestLine.includes("/busy");
/** For each record of the quiet account, the number of busy requests when its event arrived. */
const arrivals = new Map<string, number>();
let hasRetryArrived = false;
/** The busy endpoints hang. The quiet one answers. */
const delivery = useDeliveryStack(
  (socket, request) => {
    if (isBusy(request)) return;
    const { data } = bodyOf(request);
    if (data !== undefined) arrivals.set(data.id, busyRequests());
    hasRetryArrived ||= headerOf(request, "Service-Attempt") === "2";
    answer(200)(socket, request);
  },
  { env: { TEMPORAL_TASK_QUEUE: TASK_QUEUE } },
);
const busyRequests = () => delivery.receiver.requests.filter(isBusy).length;

type Endpoint = { readonly accountId: string; readonly endpointId: string };

let quiet: Endpoint;
let busyId: string;
let busyEndpointIds: readonly string[];
let begunBeforeRetry: Promise<number>;
beforeAll(async () => {
  const { stack, receiver } = delivery;
  quiet = await delivery.createOwner();
  busyId = await createAccount(stack);
  const created = await inParallel(BUSY_ENDPOINTS, (number) =>
    createEndpoint(stack, busyId, `https://127.0.0.1:${receiver.port}/busy/${number}`),
  );
  busyEndpointIds = created.map(({ endpointId }) => endpointId);
  // The crowd falls due after the test of first attempts.
  const dueAt = Date.now() + CROWD.dueInMs;
  const [, hanging = ""] = busyEndpointIds;
  // The quiet account's retry is due after the crowd. In order of time it would come last.
  await startRetries(dueAt + 1_000, quiet, 1);
  const crowd = await startRetries(
    dueAt,
    { accountId: busyId, endpointId: hanging },
    CROWD.retries,
  );
  begunBeforeRetry = countBegunBeforeRetry(dueAt, crowd);
  // The test that awaits this promise reports its failure.
  begunBeforeRetry.catch(() => undefined);
}, CROWD.timeoutMs);
afterEach(async () => {
  // TRUNCATE, because after a DELETE the next claim would scan the deleted rows until the server purges them.
  await delivery.stack.database.query("TRUNCATE TABLE outbox_entry");
  for (const socket of delivery.receiver.sockets()) socket.destroy();
});

it("makes a first attempt before all but a few of 100,000 deliveries to endpoints that hang", async () => {
  const { stack } = delivery;
  const backlog = { accountId: busyId, endpointIds: busyEndpointIds, count: BACKLOG };
  await writePending(stack.database, backlog);
  const endsAt = performance.now() + MEASURED_MS;
  /** For each donation, the busy requests that arrived between it and its event. */
  const before: number[] = [];
  while (performance.now() < endsAt) {
    const already = busyRequests();
    const { recordId } = await createPaidDonation(stack, quiet.accountId);
    const arrived = () => arrivals.has(recordId);
    await expect.poll(arrived, { timeout: ARRIVES_WITHIN_MS, interval: 5 }).toBe(true);
    before.push((arrivals.get(recordId) ?? Infinity) - already);
    await wait(500);
  }
  process.stderr.write(`requests before first attempts: ${before.join(", ")}\n`);
  expect(Math.max(...before)).toBeLessThan(FEW);
  expect(busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);

it(
  "makes a retry before a third of another account's crowd that was due sooner, at an endpoint that hangs",
  async () => expect(await begunBeforeRetry).toBeLessThan(CROWD.retries / 3),
  CROWD.timeoutMs,
);

/** Waits for the quiet account's retry. Returns how many of the crowd began before it. */
async function countBegunBeforeRetry(dueAt: number, crowd: readonly unknown[]): Promise<number> {
  await vi.waitUntil(() => hasRetryArrived, { timeout: CROWD.timeoutMs, interval: 20 });
  const sinceDueMs = Date.now() - dueAt - 1_000;
  // By their ids, because the endpoint also has deliveries of the other test.
  const [begun] = await delivery.stack.database.query<{ n: number }>(
    "SELECT COUNT(*) AS n FROM delivery WHERE id BETWEEN ? AND ? AND next_attempt_at <> ?",
    [...crowd],
  );
  process.stderr.write(
    `a retry beside ${CROWD.retries}: ${sinceDueMs} ms after it was due, ${begun?.n} of the crowd before it\n`,
  );
  return begun?.n ?? Number.NaN;
}

/**
 * Starts workflows of an endpoint whose retries are all due at the same moment. Returns their least and greatest id, and
 * the time of the next attempt that each row holds until its retry begins.
 */
async function startRetries(
  dueAt: number,
  { accountId, endpointId }: Endpoint,
  count: number,
): Promise<readonly [least: string, greatest: string, plannedAt: number]> {
  const retries = { accountId, endpointIds: [endpointId], count };
  const failedOnce = { state: DeliveryState.RETRYING, attempts: 1, nextAttemptSeconds: 60 };
  const ids = await writeDeliveries(delivery.stack.database, retries, failedOnce);
  const [least = "", greatest = ""] = [ids.at(0), ids.at(-1)];
  const [planned] = await delivery.stack.database.query<{ at: number }>(
    "SELECT next_attempt_at AS at FROM delivery WHERE id = ?",
    [least],
  );
  const accountNo = accountNoOf(accountId) ?? 0;
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const client = new WorkflowClient({ connection });
  await inParallel(STARTS_AT_ONCE, async () => {
    for (let deliveryId = ids.pop(); deliveryId !== undefined; deliveryId = ids.pop()) {
      const made = [{ outcome: AttemptOutcome.Timeout, endedAtMs: Date.now() }];
      const target = { client, taskQueue: TASK_QUEUE, nowMs: Date.now };
      const dueInMs = Math.max(1, dueAt - Date.now());
      await beginWorkflow(target, { accountNo, deliveryId, run: 1, made }, dueInMs);
    }
  });
  await connection.close();
  return [least, greatest, planned?.at ?? 0];
}
