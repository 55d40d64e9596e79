import {
  AttemptOutcome,
  DeliveryService,
  DeliveryState,
  EndpointService,
  WebhookEventKind,
} from "@activity/proto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { AttemptInput } from "../../workflows/src/activities/index.ts";
import { deliverWorkflowId, type Sequence, TASK_QUEUE } from "../../workflows/src/contract.ts";
import { createAccount } from "../harness/builders.ts";
import { expectVerified, headerOf } from "./harness-deliveries.ts";
import { recordHistory, textOf } from "./harness-history.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { startTimeSkippingStack, type TimeSkippingStack } from "./harness-time-skipping.ts";

let skipping: TimeSkippingStack;
let accountId: string;
let endpointId: string;
let secret: string;
beforeAll(async () => {
  skipping = await startTimeSkippingStack(answer(500));
});
afterAll(() => skipping.stop());
beforeEach(async () => {
  skipping.receiver.behaviour = answer(500);
  accountId = await createAccount(skipping.stack);
  const url = `https://127.0.0.1:${skipping.receiver.port}/hook`;
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const created = await endpoints().createEndpoint({ accountId, url, kinds });
  endpointId = created.endpoint?.id ?? "";
  secret = created.secret;
});

const endpoints = () => skipping.stack.client(EndpointService);
const deliveries = () => skipping.stack.client(DeliveryService);
const WAITS_SECONDS = [60, 300, 900, 3_600, 10_800, 21_600, 43_200];

/** Makes the endpoint's secret one that the core cannot decrypt; done twice, it can again. */
const swapSecret = () =>
  skipping.stack.database.query("UPDATE endpoint SET secret = REVERSE(secret) WHERE id = ?", [
    endpointId,
  ]);
const nothing = async () => {};
/** As if the attempt had ended so long before. */
const PASS_40_SECONDS =
  "UPDATE delivery SET next_attempt_at = next_attempt_at - 40000000 WHERE id = ?";

/** Sends a test event and runs its workflow to its end; the functions are called around each attempt. */
async function run(
  before: (input: AttemptInput) => Promise<void> = nothing,
  after: (input: AttemptInput) => Promise<void> = nothing,
) {
  const { deliveryId, eventId } = await endpoints().sendTest({ accountId, endpointId });
  const [sequence] = await skipping.claim();
  if (sequence === undefined) throw new Error("nothing waits");
  const worker = await skipping.worker(({ attemptDelivery }) => ({
    async attemptDelivery(input) {
      await before(input);
      const result = await attemptDelivery(input);
      await after(input);
      return result;
    },
  }));
  const { client } = skipping.environment;
  const workflowId = deliverWorkflowId(sequence);
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [sequence] };
  await worker.runUntil(client.workflow.execute("deliver", options));
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  recordHistory(history);
  const { events } = history;
  const requests = skipping.receiver.requests.filter(
    (request) => headerOf(request, "Service-Event-Id") === eventId,
  );
  return { deliveryId, requests, history, events: events ?? [] };
}

/** The waits of a history, in seconds: before its start, when that was delayed, and of each timer. */
function waitsOf(events: Awaited<ReturnType<typeof run>>["events"]): number[] {
  return events.flatMap((event) => {
    const wait =
      event.workflowExecutionStartedEventAttributes?.firstWorkflowTaskBackoff ??
      event.timerStartedEventAttributes?.startToFireTimeout;
    const seconds = wait ? Number(wait.seconds) + (wait.nanos ?? 0) / 1e9 : 0;
    return seconds > 0 ? [seconds] : [];
  });
}

it("attempts eight times, 1 m, 5 m, 15 m, 1 h, 3 h, 6 h and 12 h apart, with the same bytes", async () => {
  const { deliveryId, requests, history, events } = await run();
  expect(requests.map((request) => headerOf(request, "Service-Attempt"))).toEqual([
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
  ]);
  for (const request of requests) {
    expectVerified(request, secret);
    expect(request.body).toEqual(requests[0]?.body);
  }
  expect(waitsOf(events)).toEqual(WAITS_SECONDS);
  const { delivery, attempts } = await deliveries().getDelivery({ accountId, deliveryId });
  expect(delivery).toMatchObject({ state: DeliveryState.FAILED, attempts: 8 });
  expect(delivery?.nextAttemptAt).toBeUndefined();
  expect(attempts.map(({ outcome }) => outcome)).toEqual(
    Array(8).fill(AttemptOutcome.RECEIVER_BUSY),
  );
  const text = textOf(history);
  expect(text).toContain(deliveryId);
  for (const hidden of [secret, "/hook", "Test", `:${skipping.receiver.port}`]) {
    expect(text).not.toContain(hidden);
  }
});

it("starts nothing for a manual retry that is asked for while a sequence still runs", async () => {
  const { deliveryId, requests, events } = await run(async ({ attempt }) => {
    if (attempt !== 2 && attempt !== 8) return;
    const [{ id } = { id: "" }] = (await deliveries().listDeliveries({ accountId })).deliveries;
    const asked = { accountId, deliveryId: id };
    const answers = await Promise.all([1, 2, 3].map(() => deliveries().retryDelivery(asked)));
    expect(answers.map(({ delivery }) => delivery?.sequence)).toEqual([1, 1, 1]);
  });
  expect(requests).toHaveLength(8);
  expect(waitsOf(events)).toEqual(WAITS_SECONDS);
  expect(await skipping.claim()).toEqual([]);
  // Now it has ended: the same call starts the next one.
  const { delivery } = await deliveries().retryDelivery({ accountId, deliveryId });
  expect(delivery).toMatchObject({ sequence: 2, state: DeliveryState.WAITING });
  expect(await skipping.claim()).toMatchObject([{ deliveryId, sequence: 2 }]);
});

it("stops at the first success", async () => {
  const { deliveryId, requests, events } = await run(async ({ attempt }) => {
    if (attempt === 3) skipping.receiver.behaviour = answer(200);
  });
  expect(requests).toHaveLength(3);
  expect(waitsOf(events)).toEqual(WAITS_SECONDS.slice(0, 2));
  const { delivery } = await deliveries().getDelivery({ accountId, deliveryId });
  expect(delivery?.state).toBe(DeliveryState.DELIVERED);
});

it.each([
  ["switched off", () => endpoints().switchOffEndpoint({ accountId, endpointId })],
  ["deleted", () => endpoints().deleteEndpoint({ accountId, endpointId })],
])("cancels a sequence whose endpoint was %s during a wait", async (_, change) => {
  const { deliveryId, requests } = await run(async ({ attempt }) => {
    if (attempt === 3) await change();
  });
  expect(requests).toHaveLength(2);
  const { delivery } = await deliveries().getDelivery({ accountId, deliveryId });
  expect(delivery?.state).toBe(DeliveryState.CANCELED);
});

it("signs with the secret and sends to the URL of the moment, also for a kind given up meanwhile", async () => {
  let rotated = "";
  const { requests } = await run(async ({ attempt }) => {
    if (attempt !== 2) return;
    rotated = (await endpoints().rotateSecret({ accountId, endpointId })).secret;
    const url = `https://127.0.0.1:${skipping.receiver.port}/moved`;
    const kinds = { kinds: [WebhookEventKind.DONATION_REFUNDED] };
    await endpoints().updateEndpoint({ accountId, endpointId, url, kinds });
    skipping.receiver.behaviour = answer(200);
  });
  const [first, second, ...more] = requests;
  expect(more).toEqual([]);
  if (first === undefined || second === undefined) throw new Error("two requests");
  expectVerified(first, secret);
  expectVerified(second, rotated);
  expect([first, second].map(({ requestLine }) => requestLine.split(" ")[1])).toEqual([
    "/hook",
    "/moved",
  ]);
});

it("puts an attempt off while its endpoint is busy, and keeps its number", async () => {
  const taken = Array.from({ length: 16 }, () => skipping.places.take(endpointId));
  const leave = () => {
    for (const place of taken) if (place.kind === "taken") place.leave();
  };
  const asked: number[] = [];
  const { deliveryId, requests, events } = await run(async ({ attempt }) => {
    asked.push(attempt);
    if (attempt === 2) skipping.receiver.behaviour = answer(200);
    if (asked.length === 3) leave();
  });
  expect(asked).toEqual([1, 2, 2]);
  const [delay, putOff, ...more] = waitsOf(events);
  expect([delay, more]).toEqual([60, []]);
  expect(putOff).toBeGreaterThan(1);
  expect(putOff).toBeLessThan(3);
  expect(requests.map((request) => headerOf(request, "Service-Attempt"))).toEqual(["1", "2"]);
  const { delivery, attempts } = await deliveries().getDelivery({ accountId, deliveryId });
  expect(delivery).toMatchObject({ state: DeliveryState.DELIVERED, attempts: 2 });
  expect(attempts).toHaveLength(2);
});

it("goes by the record of an attempt that the engine never heard of, and waits from that attempt's end", async () => {
  let crashes = 0;
  const { deliveryId, requests, events } = await run(async ({ attempt }) => {
    if (attempt === 2) skipping.receiver.behaviour = answer(200);
  }, crashAfter);
  async function crashAfter({ deliveryId }: AttemptInput) {
    if (++crashes > 1) return;
    await skipping.stack.database.query(PASS_40_SECONDS, [deliveryId]);
    throw new Error("the worker went away");
  }
  expect(requests.map((request) => headerOf(request, "Service-Attempt"))).toEqual(["1", "2"]);
  const [wait = 0, ...more] = waitsOf(events);
  expect(more).toEqual([]);
  expect(wait).toBeGreaterThan(10);
  expect(wait).toBeLessThanOrEqual(20);
  const { attempts } = await deliveries().getDelivery({ accountId, deliveryId });
  expect(attempts).toHaveLength(2);
});

it("asks again in a minute for what the core cannot load, and keeps its number", async () => {
  skipping.receiver.behaviour = answer(200);
  const asked: number[] = [];
  const { deliveryId, requests, events } = await run(async ({ attempt }) => {
    asked.push(attempt);
    if (asked.length !== 2) await swapSecret();
  });
  expect(asked).toEqual([1, 1, 1]);
  expect(waitsOf(events)).toEqual([60, 60]);
  expect(requests.map((request) => headerOf(request, "Service-Attempt"))).toEqual(["1"]);
  const { delivery } = await deliveries().getDelivery({ accountId, deliveryId });
  expect(delivery).toMatchObject({ state: DeliveryState.DELIVERED, attempts: 1 });
});

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
  const events = await worker.runUntil(async () => {
    // A claim that was given out again finds everything done, and its workflow running.
    for (const workflowId of togetherIds) {
      await client.workflow.execute("deliverTogether", { ...options, workflowId });
    }
    const handle = client.workflow.getHandle(deliverWorkflowId(busySequence));
    await handle.result();
    recordHistory(await client.workflow.getHandle(togetherIds[0] ?? "").fetchHistory(), "together");
    const history = await handle.fetchHistory();
    recordHistory(history, "from attempt 2");
    return history.events ?? [];
  });
  const waits = waitsOf(events);
  expect(waits).toHaveLength(7);
  expect(waits[0]).toBeGreaterThan(55);
  expect(waits[0]).toBeLessThanOrEqual(60);
  expect(waits.slice(1)).toEqual(WAITS_SECONDS.slice(1));
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
  const scheduled = new Map<string, { attempt: number; inMs: number }>();
  async function schedule({ deliveryId }: Sequence, attempt: number, dueAtMs: number) {
    scheduled.set(deliveryId, { attempt, inMs: dueAtMs - performance.now() });
    if (runs > 1) return;
    await skipping.stack.database.query(PASS_40_SECONDS, [deliveryId]);
    await swapSecret();
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
  expect(scheduled.get(unread.deliveryId)).toMatchObject({ attempt: 1 });
});
