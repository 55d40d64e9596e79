import { fileURLToPath } from "node:url";
import { AccountService, AttemptOutcome, DeliveryState } from "@activity/proto";
import { PROCESS_TIMING as timing } from "@activity/runtime/timing";
import { Worker } from "@temporalio/worker";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { runFromProto, runToProto } from "../../workflows/src/attempt/run-key.ts";
import type { Run } from "../../workflows/src/common/run.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { startRetries } from "../../workflows/src/dispatcher/workflow-runs.ts";
import { AttemptOutcome as Outcome } from "../../workflows/src/http/attempt-outcome.ts";
import {
  type Activities,
  type AttemptAnswer,
  type DeliverInput,
  deliverWorkflowId,
  type NextAttempt,
  PROGRESS,
  type Progress,
  type RunResult,
} from "../../workflows/src/workflow/contract.ts";
import { unique } from "../harness/builders.ts";
import { QUIET } from "../harness/quiet.ts";
import { useStarted } from "../harness/use-started.ts";
import { attemptNumbersOf, verifyRequest } from "./harness-deliveries.ts";
import { expectWaits, recordHistory, waitsOf } from "./harness-history.ts";
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
const FAILED = { state: DeliveryState.FAILED, attempts: 8 };

/** Runs the workflow of an input to its end. `change` may replace activities. */
async function execute(
  input: DeliverInput,
  change?: (activities: Activities) => Partial<Activities>,
) {
  const worker = await skipping.worker(change);
  const { workflow } = skipping.environment.client;
  const workflowId = deliverWorkflowId(input);
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [input] };
  const result: RunResult = await worker.runUntil(workflow.execute("deliver", options));
  const history = await workflow.getHandle(workflowId).fetchHistory();
  recordHistory(history);
  return { history, result };
}

/** Sends a test and runs its workflow to the end. `before` runs before each attempt. */
async function runToEnd(before: (input: NextAttempt) => Promise<unknown> = async () => {}) {
  const { run, requests } = await skipping.sendTest({ accountId, endpointId });
  const ran = await execute(run, ({ attempt }) => ({
    attempt: (input) => before(input).then(() => attempt(input)),
  }));
  return { ...ran, deliveryId: run.deliveryId, requests: requests() };
}

it("attempts eight times, 1 m, 5 m, 15 m, 1 h, 3 h, 6 h and 12 h apart, with the same bytes", async () => {
  const { deliveryId, requests, history } = await runToEnd();
  expect(attemptNumbersOf(requests)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (const request of requests) {
    await verifyRequest(request, secret);
    expect(request.body).toEqual(requests[0]?.body);
  }
  expectWaits(history, WAITS_SECONDS);
  const { delivery, attempts } = await read(deliveryId);
  expect(delivery).toMatchObject(FAILED);
  expect(delivery?.nextAttemptAt).toBeUndefined();
  const outcomes = attempts.map(({ outcome }) => outcome);
  expect(outcomes).toEqual(Array(8).fill(AttemptOutcome.RECEIVER_BUSY));
});

it("cancels a run whose account was blocked during a wait", async () => {
  const { deliveryId, requests } = await runToEnd(async ({ attempt }) => {
    if (attempt === 3) await skipping.stack.client(AccountService).blockAccount({ accountId });
  });
  expect(requests).toHaveLength(2);
  const { delivery } = await read(deliveryId);
  expect(delivery?.state).toBe(DeliveryState.CANCELED);
});

it("keeps to the schedule with any Retry-After of the receiver", async () => {
  const { requests, history } = await runToEnd(async ({ attempt }) => {
    if (attempt === 1) skipping.receiver.behaviour = answer(429, "retry-after: 1\r\n");
    if (attempt === 2) skipping.receiver.behaviour = answer(503, "retry-after: 86400\r\n");
    if (attempt === 3) skipping.receiver.behaviour = answer(200);
  });
  expect(requests).toHaveLength(3);
  expectWaits(history, WAITS_SECONDS.slice(0, 2));
});

it("continues with attempt 2 a minute after the end of attempt 1, and shows every attempt. §6.4", async () => {
  const { run, requests } = await skipping.sendTest({ accountId, endpointId });
  await skipping.recordBusy(run, 1);
  const { history, progress } = await resume(run);
  expect(attemptNumbersOf(requests())).toEqual([2, 3, 4, 5, 6, 7, 8]);
  expectWaits(history, WAITS_SECONDS);
  expect(progress.attempts.map(({ outcome }) => outcome)).toEqual(Array(8).fill("receiver_busy"));
  const { delivery, attempts } = await read(run.deliveryId);
  expect(delivery).toMatchObject(FAILED);
  expect(attempts).toHaveLength(8);
});

/** Starts the workflow that a delivery waits for, as the dispatcher does, and runs it to its end. */
async function resume(run: Run) {
  const { retries } = await skipping.dispatch.claimRetries({ limit: 10 });
  expect(retries.map((retry) => runFromProto(retry.run))).toEqual([run]);
  const { workflow } = skipping.environment.client;
  const [retry] = retries;
  expect(retry?.attempts.map(({ outcome }) => outcome)).toEqual([AttemptOutcome.RECEIVER_BUSY]);
  const input = { ...run, made: [{ outcome: Outcome.ReceiverBusy, endedAtMs: Date.now() }] };
  const dueInMs = Number(retry?.dueIn?.seconds) * 1000;
  const worker = await skipping.worker();
  const handle = workflow.getHandle(deliverWorkflowId(run));
  const target = { client: workflow, taskQueue: TASK_QUEUE, nowMs: Date.now };
  const progress = await worker.runUntil(async () => {
    await beginWorkflow(target, input, dueInMs);
    // A second start changes nothing, because it is the same workflow.
    await beginWorkflow(target, input, dueInMs);
    await skipping.dispatch.completeRetries({ runs: [runToProto(run)] });
    const result = await handle.result();
    // After a restore the core asks to begin the run again. Temporal then returns the run's result. ADR 0045
    expect(await beginWorkflow(target, input, dueInMs)).toEqual(result);
    // Queries while this worker polls. Otherwise the test server may send the query to a worker that has stopped, and
    // the query is lost.
    return handle.query<Progress>(PROGRESS);
  });
  const history = await handle.fetchHistory();
  recordHistory(history);
  return { history, progress };
}

it("fails a workflow that cannot be replayed, so that its run continues from the database. ADR 0045", async () => {
  const { run, requests } = await skipping.sendTest({ accountId, endpointId });
  await skipping.recordBusy(run, 1);
  const { client, nativeConnection: connection, namespace = "default" } = skipping.environment;
  const workflowId = deliverWorkflowId(run);
  const other = await Worker.create({
    ...{ connection, namespace, taskQueue: TASK_QUEUE },
    workflowsPath: fileURLToPath(new URL("./unreplayable-deliver.ts", import.meta.url)),
    // With a cached workflow, Temporal would wait for this worker.
    maxCachedWorkflows: 0,
  });
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [run] };
  const handle = await client.workflow.start("deliver", options);
  const isBegun = async () => waitsOf(await handle.fetchHistory()).length === 1;
  await other.runUntil(() => expect.poll(isBegun).toBe(true));
  const worker = await skipping.worker();
  await worker.runUntil(expect(handle.result()).rejects.toThrow("failed"));
  skipping.receiver.behaviour = answer(200);
  await resume(run);
  expect(attemptNumbersOf(requests())).toEqual([2]);
});

/** Records a retried failure, and gives it an outcome that only a newer version knows. */
async function recordNewer(run: Run, attempt: number): Promise<void> {
  await skipping.recordBusy(run, attempt);
  await skipping.stack.database.query(
    "UPDATE delivery_attempt SET outcome = 99 WHERE delivery_id = ? AND attempt = ?",
    [run.deliveryId, attempt],
  );
}

it("begins the retries of a run whose outcome only a newer version knows. ADR 0044", async () => {
  const { run, requests } = await skipping.sendTest({ accountId, endpointId });
  await recordNewer(run, 1);
  const { dispatch, recorder, environment } = skipping;
  const { workflow: client } = environment.client;
  const target = { client, taskQueue: TASK_QUEUE, nowMs: Date.now };
  const poller = startRetries({ ...target, dispatch, recorder, timing, log: QUIET });
  onTestFinished(poller.stop);
  const entries = () =>
    skipping.stack.database.query("SELECT 1 FROM outbox_entry WHERE delivery_id = ?", [
      run.deliveryId,
    ]);
  await expect.poll(entries).toEqual([]);
  skipping.receiver.behaviour = answer(200);
  const worker = await skipping.worker();
  await worker.runUntil(client.getHandle(deliverWorkflowId(run)).result());
  expect(attemptNumbersOf(requests())).toEqual([2]);
});

it("resumes after a recorded outcome that only a newer version knows, after the whole wait. ADR 0044", async () => {
  const { deliveryId, requests, history } = await runToEnd(async ({ before: _, ...key }) => {
    if (key.attempt === 3) await recordNewer(key, 3);
  });
  expect(attemptNumbersOf(requests)).toEqual([1, 2, 4, 5, 6, 7, 8]);
  expectWaits(history, WAITS_SECONDS);
  expect((await read(deliveryId)).delivery).toMatchObject(FAILED);
});

/** The answers of the core and the receiver, in order. `undefined` stands for a core that is away. */
type Script = readonly (AttemptAnswer | undefined)[];

const times = { startedAtMs: Date.now(), endedAtMs: Date.now(), durationMs: 0 };
const made = { ...times, kind: "made", retryInMs: 60_000 } as const;
const busy = { ...made, outcome: Outcome.ReceiverBusy } as const;
const delivered = { ...made, outcome: Outcome.Delivered } as const;
const recorded = { ...busy, kind: "recorded", retryInMs: 40_000 } as const;
const rescheduled = { kind: "rescheduled", waitMs: 5_000 } as const;
const unknown = { kind: "unknown" } as const;
const away = undefined;

// The simulation tests the core's answers. These tests record a history of each state in which a workflow can be.
it.each<[what: string, script: Script, asked: number[], least: number[], most: number[]]>([
  [
    "reschedules a retry while its endpoint has no slot, and keeps its number",
    [busy, rescheduled, delivered],
    [1, 2, 2],
    [55, 4],
    [60, 5],
  ],
  [
    "resumes after a recorded attempt that Temporal does not know, and waits from that attempt's end",
    [away, recorded, delivered],
    [1, 1, 2],
    [10, 35],
    [20, 40],
  ],
  [
    "waits for the rest of the delay that the answer of an attempt has",
    [{ ...busy, retryInMs: 20_000 }, delivered],
    [1, 2],
    [15],
    [20],
  ],
  [
    "reschedules an attempt that the core cannot load, later each time, and keeps its number",
    [away, away, away, delivered],
    [1, 1, 1, 1],
    [10, 20, 40],
    [20, 40, 80],
  ],
  ["ends as unknown if the database does not have the run. ADR 0045", [unknown], [1], [], []],
])("%s", async (_, script, numbers, least, most) => {
  const asked: number[] = [];
  const { history, result } = await executeScript(async ({ attempt }) => {
    const given = script[asked.length];
    asked.push(attempt);
    return given ?? Promise.reject(new Error("the core is away"));
  });
  expect(asked).toEqual(numbers);
  expect(result.end).toBe(script.includes(unknown) ? "unknown" : "delivered");
  const waits = waitsOf(history);
  expect(waits).toHaveLength(most.length);
  expect(waits.filter((wait, at) => wait < (least[at] ?? 0) || wait > (most[at] ?? 0))).toEqual([]);
});

it("never repeats an attempt that could not be recorded, and waits from its end. ADR 0028", async () => {
  const asked: number[] = [];
  let refused = 0;
  const { history } = await executeScript(
    async ({ attempt }) => {
      asked.push(attempt);
      return attempt === 1 ? busy : delivered;
    },
    async () => {
      refused += 1;
      if (refused <= 3) throw new Error("read-only");
    },
  );
  expect(asked).toEqual([1, 2]);
  expect(refused).toBe(5);
  // The workflow waits in three pauses, then for the rest of the minute.
  const waits = waitsOf(history);
  expect(waits).toHaveLength(4);
  const waited = waits.reduce((sum, wait) => sum + wait, 0);
  expect(waited).toBeGreaterThan(55);
  expect(waited).toBeLessThanOrEqual(60);
});

/** Runs a workflow with these activities. No core knows its run. */
const executeScript = (attempt: Activities["attempt"], record = async () => undefined) =>
  execute({ accountNo: 1, deliveryId: unique("scripted"), run: 1 }, () => ({ attempt, record }));
