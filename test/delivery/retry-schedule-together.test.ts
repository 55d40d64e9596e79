import { EndpointService } from "@activity/proto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type DeliverInput, deliverWorkflowId, TASK_QUEUE } from "../../workflows/src/contract.ts";
import { headerOf } from "./harness-deliveries.ts";
import { recordHistory, waitsOf } from "./harness-history.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { startTimeSkippingStack, type TimeSkippingStack } from "./harness-time-skipping.ts";

let skipping: TimeSkippingStack;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  skipping = await startTimeSkippingStack(answer(500));
});
afterAll(() => skipping.stop());
beforeEach(async () => {
  skipping.receiver.behaviour = answer(500);
  ({ accountId, endpointId } = await skipping.createEndpoint());
});

const endpoints = () => skipping.stack.client(EndpointService);
const LATER_WAITS_SECONDS = [300, 900, 3_600, 10_800, 21_600, 43_200];

const REFUSES = { scheduleRetry: () => Promise.reject(new Error("the engine does not answer")) };

it.each([
  [
    "hands those of many that must be retried to workflows of their own, a minute from their end",
    {},
  ],
  ["hands them over as children when they could not be started, a minute from their end", REFUSES],
])("%s", async (_, dependencies) => {
  const sent = await Promise.all(
    Array.from({ length: 5 }, () => endpoints().sendTest({ accountId, endpointId })),
  );
  const [busy] = sent;
  skipping.receiver.behaviour = (socket, request) =>
    answer(headerOf(request, "Service-Event-Id") === busy?.eventId ? 503 : 200)(socket, request);
  const sequences = await skipping.claim();
  expect(sequences).toHaveLength(5);
  const worker = await skipping.worker(() => ({}), dependencies);
  const { client } = skipping.environment;
  const options = { taskQueue: TASK_QUEUE, args: [{ sequences }] };
  const busySequence = { deliveryId: busy?.deliveryId ?? "", sequence: 1 };
  const togetherIds = [1, 2].map((claim) => `together-${busySequence.deliveryId}-${claim}`);
  const history = await worker.runUntil(async () => {
    // A claim that was given out again finds everything done, and its workflow running.
    for (const workflowId of togetherIds) {
      await client.workflow.execute("deliverTogether", { ...options, workflowId });
    }
    const handle = client.workflow.getHandle(deliverWorkflowId(busySequence));
    await handle.result();
    recordHistory(await client.workflow.getHandle(togetherIds[0] ?? "").fetchHistory(), "together");
    const rest = await handle.fetchHistory();
    recordHistory(rest, "from attempt 2");
    return rest;
  });
  const waits = waitsOf(history);
  expect(waits).toHaveLength(7);
  expect(waits[0]).toBeGreaterThan(55);
  expect(waits[0]).toBeLessThanOrEqual(60);
  expect(waits.slice(1)).toEqual(LATER_WAITS_SECONDS);
  const requests = skipping.receiver.requests.filter((request) =>
    sent.some(({ eventId }) => headerOf(request, "Service-Event-Id") === eventId),
  );
  expect(requests).toHaveLength(4 + 8);
});

it("hands over those of many that are run again with what is left of their wait, or as they were", async () => {
  const sent = await Promise.all([1, 2].map(() => endpoints().sendTest({ accountId, endpointId })));
  const [made, unread] = sent;
  if (made === undefined || unread === undefined) throw new Error("two were sent");
  const sequences = await skipping.claim();
  let runs = 0;
  const worker = await skipping.worker(
    ({ attemptTogether }) => ({
      async attemptTogether(all) {
        runs += 1;
        if (runs > 1) return attemptTogether(all);
        await attemptTogether(all.filter(({ deliveryId }) => deliveryId === made.deliveryId));
        throw new Error("the worker went away");
      },
    }),
    { scheduleRetry: schedule },
  );
  const scheduled = new Map<string, DeliverInput & { inMs: number }>();
  async function schedule(input: DeliverInput, dueAtMs: number) {
    const { deliveryId } = input;
    scheduled.set(deliveryId, { ...input, inMs: dueAtMs - performance.now() });
    if (runs > 1) return;
    await skipping.pass40Seconds(deliveryId);
    await skipping.swapSecret(endpointId);
  }
  const { client } = skipping.environment;
  const options = {
    taskQueue: TASK_QUEUE,
    args: [{ sequences }],
    workflowId: `again-${made.deliveryId}`,
  };
  await worker.runUntil(client.workflow.execute("deliverTogether", options));
  expect(runs).toBe(2);
  const left = scheduled.get(made.deliveryId);
  expect(left?.attempt).toBe(2);
  expect(left?.inMs).toBeGreaterThan(10_000);
  expect(left?.inMs).toBeLessThanOrEqual(20_001);
  expect(scheduled.get(unread.deliveryId)).toMatchObject({ attempt: 1, failedLoads: 1 });
});
