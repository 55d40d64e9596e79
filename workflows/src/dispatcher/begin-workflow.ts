import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";
import {
  DELIVER,
  type DeliverInput,
  deliverWorkflowId,
  type RunResult,
} from "../workflow/contract.ts";

/** Less than the lease of what is begun: the SDK would try again for longer, with a delay that is over by then. */
const BEGIN_WITHIN_MS = 10_000;

/** Where workflows are begun. */
export type WorkflowTarget = {
  readonly client: Pick<WorkflowClient, "start" | "getHandle" | "withDeadline">;
  readonly taskQueue: string;
  /** Of this process' worker, where Temporal tells versions apart. */
  readonly buildId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
};

/**
 * Begins the workflow of a run, once its next attempt is due in `dueInMs`; resolves when Temporal
 * acknowledged it. A workflow of the run that is there goes on as it is. One that was closed from
 * outside is replaced by another. One that came to its end by itself belongs to a run of a restored
 * database. Where it knows how the run ended, its result is returned and nothing begins; else the
 * run resumes behind the attempts that it knows. ADR 0045
 */
export async function beginWorkflow(
  target: WorkflowTarget,
  input: DeliverInput,
  dueInMs: number,
): Promise<RunResult | undefined> {
  const { client, nowMs } = target;
  return client.withDeadline(nowMs() + BEGIN_WITHIN_MS, async () => {
    try {
      const { ALLOW_DUPLICATE_FAILED_ONLY } = WorkflowIdReusePolicy;
      await start(target, input, dueInMs, ALLOW_DUPLICATE_FAILED_ONLY);
      return undefined;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    const known: RunResult = await client.getHandle(deliverWorkflowId(input)).result();
    const { made = [] } = input;
    const isAhead = known.attempts.length > made.length;
    if (isAhead && (known.end === "delivered" || known.end === "failed")) return known;
    const next = isAhead ? { ...input, made: known.attempts } : input;
    await start(target, next, dueInMs, WorkflowIdReusePolicy.ALLOW_DUPLICATE);
    return undefined;
  });
}

async function start(
  { client, taskQueue, buildId }: WorkflowTarget,
  input: DeliverInput,
  dueInMs: number,
  workflowIdReusePolicy: WorkflowIdReusePolicy,
): Promise<void> {
  // Temporal keeps a delayed start as safely as a timer, and no worker takes part until it is due.
  // An eager start goes to the worker of this process, whichever version is the current one.
  const delay =
    dueInMs >= 1
      ? { startDelay: Math.round(dueInMs) }
      : { requestEagerStart: buildId === undefined };
  await client.start(DELIVER, {
    taskQueue,
    workflowId: deliverWorkflowId(input),
    workflowIdReusePolicy,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    // What Temporal's UI shows of it before the workflow can be asked for its progress.
    staticSummary: summaryOf(input),
    // Where Temporal's matching is fair, another account's retries do not wait behind a crowd of this one's.
    priority: { fairnessKey: String(input.accountNo) },
    args: [input],
    ...delay,
  });
}

function summaryOf({ made = [] }: DeliverInput): string {
  const last = made.at(-1);
  return last ? `attempt ${made.length}: ${last.outcome}` : "no attempt yet";
}
