import { DeliveryState, AttemptOutcome as Outcome } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import { runFromProto, runToProto } from "../../workflows/src/attempt/run-key.ts";
import type { Run } from "../../workflows/src/common/run.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import {
  type Activities,
  deliverWorkflowId,
  PROGRESS,
  type Progress,
} from "../../workflows/src/workflow/contract.ts";
import { useStarted } from "../harness/use-started.ts";
import { attemptNumbersOf } from "./harness-deliveries.ts";
import { expectWaits, recordHistory, textOf, waitsOf } from "./harness-history.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { startTimeSkippingStack, TASK_QUEUE } from "./harness-time-skipping.ts";

const skipping = useStarted(() => startTimeSkippingStack(answer(500)));
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  skipping.receiver.behaviour = answer(500);
  ({ accountId, endpointId } = await skipping.createEndpoint());
});

const readDelivery = (deliveryId: string) =>
  skipping.deliveries.getDelivery({ accountId, deliveryId });

/** Sends a test whose first attempt failed, as the dispatcher records it. Returns its run and its requests. */
async function failFirstAttempt() {
  const sent = await skipping.sendTest({ accountId, endpointId });
  await skipping.recordBusy(sent.run, 1);
  return sent;
}

/** Starts the workflow that a delivery waits for, as the dispatcher does, and runs it to its end. */
async function resume(run: Run, change?: (activities: Activities) => Partial<Activities>) {
  const { retries } = await skipping.dispatch.claimRetries({ limit: 10 });
  expect(retries.map((retry) => runFromProto(retry.run))).toEqual([run]);
  const { client } = skipping.environment;
  const [first] = retries[0]?.attempts ?? [];
  expect(first?.outcome).toBe(Outcome.RECEIVER_BUSY);
  const made = [{ outcome: AttemptOutcome.ReceiverBusy, endedAtMs: Date.now() }];
  const dueInMs = Number(retries[0]?.dueIn?.seconds) * 1000;
  const worker = await skipping.worker(change);
  const handle = client.workflow.getHandle(deliverWorkflowId(run));
  const target = { client: client.workflow, taskQueue: TASK_QUEUE, nowMs: Date.now };
  const progress = await worker.runUntil(async () => {
    await beginWorkflow(target, { ...run, made }, dueInMs);
    // A second start after the acknowledgement changes nothing: it is the same workflow.
    await beginWorkflow(target, { ...run, made }, dueInMs);
    await skipping.dispatch.completeRetries({ runs: [runToProto(run)] });
    await handle.result();
    // The query runs while this worker polls. The test server may send a query to a worker that has stopped, and it
    // is then lost.
    return handle.query<Progress>(PROGRESS);
  });
  const history = await handle.fetchHistory();
  recordHistory(history);
  return { history, progress };
}

it("continues with attempt 2 a minute after the end of attempt 1, and shows every attempt. §6.4", async () => {
  const { run, requests } = await failFirstAttempt();
  const { history, progress } = await resume(run);
  expect(attemptNumbersOf(requests())).toEqual([2, 3, 4, 5, 6, 7, 8]);
  expectWaits(history, [60, 300, 900, 3_600, 10_800, 21_600, 43_200]);
  expect(progress.attempts.map(({ outcome }) => outcome)).toEqual(Array(8).fill("receiver_busy"));
  const { delivery, attempts } = await readDelivery(run.deliveryId);
  expect(delivery).toMatchObject({ state: DeliveryState.FAILED, attempts: 8 });
  expect(attempts).toHaveLength(8);
  const text = textOf(history);
  for (const hidden of ["whsec_", "/hook", "Test", `:${skipping.receiver.port}`]) {
    expect(text).not.toContain(hidden);
  }
});

it("never repeats an attempt that could not be recorded, and waits from its end. ADR 0028", async () => {
  const { run, requests } = await failFirstAttempt();
  let refused = 0;
  const { history } = await resume(run, ({ attempt, record }) => ({
    async attempt(input) {
      if (input.attempt === 3) skipping.receiver.behaviour = answer(200);
      return attempt(input);
    },
    record(input) {
      refused += 1;
      return refused <= 3 ? Promise.reject(new Error("read-only")) : record(input);
    },
  }));
  expect(attemptNumbersOf(requests())).toEqual([2, 3]);
  expect(refused).toBe(5);
  const [first = 0, ...waits] = waitsOf(history);
  expect(first).toBeGreaterThan(55);
  // Three pauses, then the rest of the five minutes.
  expect(waits).toHaveLength(4);
  const waited = waits.reduce((sum, wait) => sum + wait, 0);
  expect(waited).toBeGreaterThan(295);
  expect(waited).toBeLessThanOrEqual(300);
  const { delivery, attempts } = await readDelivery(run.deliveryId);
  expect(delivery?.state).toBe(DeliveryState.DELIVERED);
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});
