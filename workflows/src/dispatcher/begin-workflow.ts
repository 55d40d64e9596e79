import {
  type WorkflowClient,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";
import { wallClockMs } from "../clock.ts";
import { DELIVER, type DeliverInput, deliverWorkflowId } from "../workflow/contract.ts";

/** Less than the lease of what is begun: the SDK would try again for longer, with a delay that is over by then. */
const START_WITHIN_MS = 10_000;

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
  await client.withDeadline(wallClockMs() + START_WITHIN_MS, () =>
    client.start(DELIVER, {
      taskQueue,
      workflowId: deliverWorkflowId(input),
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      // What Temporal's UI shows of it before the workflow can be asked for its progress.
      staticSummary: summaryOf(input),
      args: [input],
      ...start,
    }),
  );
}

function summaryOf({ made = [] }: DeliverInput): string {
  const last = made.at(-1);
  return last ? `attempt ${made.length}: ${last.outcome}` : "no attempt yet";
}
