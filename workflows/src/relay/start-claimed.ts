import { createHash } from "node:crypto";
import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from "@temporalio/client";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import {
  type DeliverInput,
  type DeliverTogetherInput,
  deliverWorkflowId,
  type Sequence,
  TASK_QUEUE,
  WorkflowName,
} from "../contract.ts";

/** What a relay claimed. */
export type Claimed = {
  /** Sequences that begin. */
  readonly sequences: readonly Sequence[];
  /** Sequences that the engine lost, and the attempt that each goes on with. */
  readonly lost: readonly (Sequence & { readonly attempt: number })[];
};

/** Started twice, a workflow is started once: a claim that was given out again does no harm. */
const ONCE = WorkflowIdReusePolicy.REJECT_DUPLICATE;
/** A workflow that was ended by hand is closed: its delivery goes on in another. */
const AGAIN_IF_CLOSED = WorkflowIdReusePolicy.ALLOW_DUPLICATE;

/** Starts the workflows of what was claimed, and resolves when all were acknowledged. */
export async function startClaimed(
  client: WorkflowClient,
  { sequences, lost }: Claimed,
): Promise<void> {
  const goOn = (input: DeliverInput) =>
    start(client, WorkflowName.Deliver, deliverWorkflowId(input), input, AGAIN_IF_CLOSED);
  await Promise.all([startSequences(client, sequences), ...lost.map(goOn)]);
}

async function startSequences(
  client: WorkflowClient,
  sequences: readonly Sequence[],
): Promise<void> {
  const [first, ...rest] = sequences;
  if (first === undefined) return;
  if (rest.length === 0) {
    await start(client, WorkflowName.Deliver, deliverWorkflowId(first), first, ONCE);
  } else {
    const id = togetherWorkflowId(sequences);
    await start(client, WorkflowName.DeliverTogether, id, { sequences }, ONCE);
  }
}

async function start(
  client: WorkflowClient,
  name: string,
  workflowId: string,
  input: DeliverInput | DeliverTogetherInput,
  workflowIdReusePolicy: WorkflowIdReusePolicy,
): Promise<void> {
  const options: WorkflowStartOptions = {
    taskQueue: TASK_QUEUE,
    requestEagerStart: true,
    workflowIdReusePolicy,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowId,
    args: [input],
  };
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
