import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { expect, it, vi } from "vitest";
import { AttemptOutcome } from "../http/attempt-outcome.ts";
import { DELIVER, type RunResult } from "../workflow/contract.ts";
import { beginWorkflow, type WorkflowTarget } from "./begin-workflow.ts";

const NOW_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const RUN = { accountNo: 1, deliveryId: "delivery", run: 1 };

/** Creates a target. In its Temporal, the run's workflow has ended with `result`. */
function targetOf(result: Pick<RunResult, "end" | "attempts">) {
  const start = vi
    .fn()
    .mockRejectedValueOnce(new WorkflowExecutionAlreadyStartedError("", "", DELIVER))
    .mockResolvedValueOnce(undefined);
  const client = {
    start,
    getHandle: () => ({ result: async () => result }),
    withDeadline: (_at: number, work: () => unknown) => work(),
  };
  const target = { client, taskQueue: "queue", nowMs: () => NOW_MS } as unknown as WorkflowTarget;
  return { target, start };
}

it("a run of a restored database waits after its last attempt, which only Temporal knows. §6.4, ADR 0045", async () => {
  const made = Array.from({ length: 5 }, () => {
    return { outcome: AttemptOutcome.Timeout, endedAtMs: NOW_MS - MINUTE_MS };
  });
  const { target, start } = targetOf({ end: "ended", attempts: made });
  const input = { ...RUN, made: made.slice(0, 2) };
  await beginWorkflow(target, input, 0);
  // After the fifth attempt the wait is three hours. One minute of it is over.
  const startDelay = 180 * MINUTE_MS - MINUTE_MS;
  expect(start.mock.lastCall?.[1]).toMatchObject({ args: [{ ...input, made }], startDelay });
});

it("a run is not sent again when only Temporal knows that its last attempt was delivered. ADR 0045", async () => {
  const failed = { outcome: AttemptOutcome.Timeout, endedAtMs: NOW_MS };
  const delivered = { outcome: AttemptOutcome.Delivered, endedAtMs: NOW_MS };
  const result = { end: "delivered", attempts: [failed, delivered] } as const;
  const { target, start } = targetOf(result);
  const begun = await beginWorkflow(target, { ...RUN, made: [failed, failed] }, 0);
  expect(begun).toEqual(result);
  expect(start).toHaveBeenCalledOnce();
});

it("each workflow task has 20 seconds. ADR 0028", async () => {
  const { target, start } = targetOf({ end: "ended", attempts: [] });
  await beginWorkflow(target, RUN, 0);
  expect(start.mock.lastCall?.[1]).toMatchObject({ workflowTaskTimeout: "20 seconds" });
});
