import { AccountService, AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import {
  deliverWorkflowId,
  type NextAttempt,
  type RunResult,
} from "../../workflows/src/workflow/contract.ts";
import { useStarted } from "../harness/use-started.ts";
import { attemptNumbersOf, expectVerified } from "./harness-deliveries.ts";
import { expectWaits, recordHistory, textOf, waitsOf } from "./harness-history.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { startTimeSkippingStack, TASK_QUEUE } from "./harness-time-skipping.ts";

const skipping = useStarted(() => startTimeSkippingStack(answer(500)));
let accountId: string;
let endpointId: string;
let secret: string;
beforeEach(async () => {
  skipping.receiver.behaviour = answer(500);
  ({ accountId, endpointId, secret } = await skipping.createEndpoint());
});

const read = (deliveryId: string) => skipping.deliveries.getDelivery({ accountId, deliveryId });
const WAITS_SECONDS = [60, 300, 900, 3_600, 10_800, 21_600, 43_200];
const nothing = async () => {};

/** Sends a test and runs its workflow to the end. `before` and `after` run around each attempt. */
async function runToEnd(
  before: (input: NextAttempt) => Promise<void> = nothing,
  after: (input: NextAttempt) => Promise<void> = nothing,
) {
  const { run, requests } = await skipping.sendTest({ accountId, endpointId });
  const worker = await skipping.worker(({ attempt }) => ({
    async attempt(input) {
      await before(input);
      const answered = await attempt(input);
      await after(input);
      return answered;
    },
  }));
  const { client } = skipping.environment;
  const workflowId = deliverWorkflowId(run);
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [run] };
  const result: RunResult = await worker.runUntil(client.workflow.execute("deliver", options));
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  recordHistory(history);
  return { deliveryId: run.deliveryId, requests: requests(), history, result };
}

/** Takes all slots of the endpoint. Returns a function that gives them back. */
function takeAllSlots(): () => void {
  const taken = Array.from({ length: 16 }, () => skipping.slots.take(endpointId));
  return () => {
    for (const slot of taken) if ("giveBack" in slot) slot.giveBack();
  };
}

it("attempts eight times, 1 m, 5 m, 15 m, 1 h, 3 h, 6 h and 12 h apart, with the same bytes", async () => {
  const { deliveryId, requests, history } = await runToEnd();
  expect(attemptNumbersOf(requests)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (const request of requests) {
    expectVerified(request, secret);
    expect(request.body).toEqual(requests[0]?.body);
  }
  expectWaits(history, WAITS_SECONDS);
  const { delivery, attempts } = await read(deliveryId);
  expect(delivery).toMatchObject({ state: DeliveryState.FAILED, attempts: 8 });
  expect(delivery?.nextAttemptAt).toBeUndefined();
  const outcomes = attempts.map(({ outcome }) => outcome);
  expect(outcomes).toEqual(Array(8).fill(AttemptOutcome.RECEIVER_BUSY));
  const text = textOf(history);
  expect(text).toContain(deliveryId);
  for (const hidden of [secret, "/hook", "Test", `:${skipping.receiver.port}`]) {
    expect(text).not.toContain(hidden);
  }
});

it.each([
  ["switched off", () => skipping.endpoints.switchOffEndpoint({ accountId, endpointId })],
  ["deleted", () => skipping.endpoints.deleteEndpoint({ accountId, endpointId })],
  [
    "of an account that was blocked",
    () => skipping.stack.client(AccountService).blockAccount({ accountId }),
  ],
])("cancels a run whose endpoint was %s during a wait", async (_, change) => {
  const { deliveryId, requests } = await runToEnd(async ({ attempt }) => {
    if (attempt === 3) await change();
  });
  expect(requests).toHaveLength(2);
  const { delivery } = await read(deliveryId);
  expect(delivery?.state).toBe(DeliveryState.CANCELED);
});

it("signs with the current secret and sends to the current URL, also for a kind that was dropped meanwhile", async () => {
  let rotated = "";
  const { requests } = await runToEnd(async ({ attempt }) => {
    if (attempt !== 2) return;
    rotated = (await skipping.endpoints.rotateSecret({ accountId, endpointId })).secret;
    const url = `https://127.0.0.1:${skipping.receiver.port}/moved`;
    const kinds = { kinds: [WebhookEventKind.DONATION_REFUNDED] };
    await skipping.endpoints.updateEndpoint({ accountId, endpointId, url, kinds });
    skipping.receiver.behaviour = answer(200);
  });
  const paths = requests.map(({ requestLine }) => requestLine.split(" ")[1]);
  expect(paths).toEqual(["/hook", "/moved"]);
  for (const [index, request] of requests.entries()) {
    expectVerified(request, index === 0 ? secret : rotated);
  }
});

it("reschedules a retry while its endpoint has no slot, and keeps its number", async () => {
  const giveBack = takeAllSlots();
  const asked: number[] = [];
  const { deliveryId, requests, history } = await runToEnd(async ({ attempt }) => {
    asked.push(attempt);
    if (attempt === 2) skipping.receiver.behaviour = answer(200);
    if (asked.length === 3) giveBack();
  });
  expect(asked).toEqual([1, 2, 2]);
  const [delay, rescheduled, ...more] = waitsOf(history);
  expect(delay).toBeGreaterThan(55);
  expect(more).toEqual([]);
  expect(rescheduled).toBeGreaterThanOrEqual(1);
  expect(rescheduled).toBeLessThan(10);
  expect(attemptNumbersOf(requests)).toEqual([1, 2]);
  const { delivery, attempts } = await read(deliveryId);
  expect(delivery).toMatchObject({ state: DeliveryState.DELIVERED, attempts: 2 });
  expect(attempts).toHaveLength(2);
});

it("resumes after a recorded attempt that Temporal does not know, and waits from that attempt's end", async () => {
  let crashes = 0;
  const { deliveryId, requests, history } = await runToEnd(async ({ attempt }) => {
    if (attempt === 2) skipping.receiver.behaviour = answer(200);
  }, crashAfter);
  async function crashAfter({ attempt, ...run }: NextAttempt) {
    if (++crashes > 1) return;
    await skipping.recordBusy(run, attempt);
    await skipping.pass20Seconds(run.deliveryId);
    throw new Error("the worker went away");
  }
  expect(attemptNumbersOf(requests)).toEqual([1, 2]);
  const [rescheduled = 0, rest = 0, ...more] = waitsOf(history);
  expect(more).toEqual([]);
  expect(rescheduled).toBeGreaterThanOrEqual(10);
  expect(rest).toBeGreaterThan(35);
  expect(rest).toBeLessThanOrEqual(40);
  const { attempts } = await read(deliveryId);
  expect(attempts).toHaveLength(2);
});

it("reschedules an attempt that the core cannot load, later each time, and keeps its number", async () => {
  skipping.receiver.behaviour = answer(200);
  const asked: number[] = [];
  const { deliveryId, requests, history } = await runToEnd(async ({ attempt }) => {
    asked.push(attempt);
    if (asked.length === 1 || asked.length === 4) await skipping.swapSecret(endpointId);
  });
  expect(asked).toEqual([1, 1, 1, 1]);
  const waits = waitsOf(history);
  expect(waits).toHaveLength(3);
  for (const [failed, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(10 * 2 ** failed);
    expect(wait).toBeLessThanOrEqual(20 * 2 ** failed);
  }
  expect(attemptNumbersOf(requests)).toEqual([1]);
  const { delivery } = await read(deliveryId);
  expect(delivery).toMatchObject({ state: DeliveryState.DELIVERED, attempts: 1 });
});

it("ends as unknown if the database does not have the run, and sends nothing. ADR 0045", async () => {
  const { history, requests, result } = await runToEnd(async ({ deliveryId }) => {
    await skipping.stack.database.query("DELETE FROM delivery WHERE id = ?", [deliveryId]);
  });
  expect(result).toEqual({ end: "unknown", attempts: [] });
  expect(requests).toEqual([]);
  expect(waitsOf(history)).toEqual([]);
});

it("keeps to the schedule whatever Retry-After the receiver names", async () => {
  const { requests, history } = await runToEnd(async ({ attempt }) => {
    if (attempt === 1) skipping.receiver.behaviour = answer(429, "retry-after: 1\r\n");
    if (attempt === 2) skipping.receiver.behaviour = answer(503, "retry-after: 86400\r\n");
    if (attempt === 3) skipping.receiver.behaviour = answer(200);
  });
  expect(requests).toHaveLength(3);
  expectWaits(history, WAITS_SECONDS.slice(0, 2));
});
