import {
  type WorkflowClient,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";
import { DELIVER, type DeliverInput, deliverWorkflowId } from "../workflow/contract.ts";

/**
 * Begins the workflow of a run, once its next attempt is due in `dueInMs`; resolves when Temporal acknowledged
 * it. A workflow of the run that is there already goes on as it is; one that is closed was ended from
 * outside, and the run goes on in another.
 */
export async function beginWorkflow(
  client: WorkflowClient,
  taskQueue: string,
  input: DeliverInput,
  dueInMs: number,
): Promise<void> {
  // Temporal keeps a delayed start as safely as a timer, and no worker takes part until it is due.
  const start = dueInMs >= 1 ? { startDelay: Math.round(dueInMs) } : { requestEagerStart: true };
  await client.start(DELIVER, {
    taskQueue,
    workflowId: deliverWorkflowId(input),
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    args: [input],
    ...start,
  });
}
