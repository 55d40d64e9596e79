import { type WorkflowClient, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import pLimit from "p-limit";
import type { ScheduleRetry } from "../activities/index.ts";
import { deliverWorkflowId, TASK_QUEUE, WorkflowName } from "../contract.ts";

/** More starts at once make the engine no faster, and late for everything else that is asked of it. */
const STARTS_AT_ONCE = 16;

/**
 * Creates what starts the workflow of a retry now, to begin when it is due. The engine keeps such a start as
 * safely as a timer, at a third of the price of a child workflow that sets one: no worker takes part until then.
 */
export function createRetrySchedule(client: WorkflowClient): ScheduleRetry {
  const inTurn = pLimit(STARTS_AT_ONCE);
  return (input, dueAtMs) =>
    inTurn(async () => {
      try {
        await client.start(WorkflowName.Deliver, {
          taskQueue: TASK_QUEUE,
          workflowId: deliverWorkflowId(input),
          workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          startDelay: Math.max(1, Math.round(dueAtMs - performance.now())),
          args: [input],
        });
      } catch (error) {
        // Another start of the same sequence was first: it goes on there.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    });
}
