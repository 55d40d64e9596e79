import { createHash } from "node:crypto";
import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from "@temporalio/client";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import { deliverWorkflowId, type Sequence, TASK_QUEUE, WorkflowName } from "../contract.ts";

/** Started twice, a workflow is started once: a claim that was given out again does no harm. */
const IDEMPOTENT_START = {
  taskQueue: TASK_QUEUE,
  requestEagerStart: true,
  workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
} as const;

/** Starts the workflow of claimed sequences, at least one, and resolves when it was acknowledged. */
export async function startSequences(
  client: WorkflowClient,
  sequences: readonly Sequence[],
): Promise<void> {
  // The claim's messages carry more than workflows are to know.
  const [first, ...rest] = sequences.map(({ deliveryId, sequence }) => ({ deliveryId, sequence }));
  if (first === undefined) return;
  if (rest.length === 0) {
    await start(client, WorkflowName.Deliver, deliverWorkflowId(first), first);
  } else {
    const together = [first, ...rest];
    await start(client, WorkflowName.DeliverTogether, togetherWorkflowId(together), {
      sequences: together,
    });
  }
}

async function start(
  client: WorkflowClient,
  name: string,
  workflowId: string,
  input: unknown,
): Promise<void> {
  const options: WorkflowStartOptions = { ...IDEMPOTENT_START, workflowId, args: [input] };
  try {
    await client.start(name, options);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** The same claim has the same id. */
function togetherWorkflowId(sequences: readonly Sequence[]): string {
  const ids = sequences.map(deliverWorkflowId).toSorted().join(" ");
  return `deliveries-${createHash("sha256").update(ids).digest("hex").slice(0, 32)}`;
}
